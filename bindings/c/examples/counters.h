/* The game of the examples: two players count their presses, for ten seconds. */
#ifndef COUNTERS_H
#define COUNTERS_H

#include <rebout.h>
#include <stdio.h>
#include <string.h>

#ifndef FRAMES
#define FRAMES 600
#endif
#define PRESS 1u /* a button */
#define CLICK 7u /* a cue */

struct counters {
    uint32_t frame;
    uint32_t rng;
    int32_t counters[2];
    uint32_t held[2];
};

static const rebout_region regions[] = {
    REBOUT_FIELD(struct counters, frame, 0),
    REBOUT_FIELD(struct counters, rng, 0),
    REBOUT_ARRAY(struct counters, counters, REBOUT_REGION_SIGNED),
    REBOUT_ARRAY(struct counters, held, 0),
};

/* A pure function of the state and the inputs: no clock, no float, nothing outside. */
static void counters_step(void *user, const uint64_t *inputs, rebout_step_cues *cues, int32_t shown) {
    struct counters *game = user;
    (void)shown;
    game->frame++;
    game->rng = game->rng * 1664525u + 1013904223u;
    for (int player = 0; player < 2; player++) {
        uint32_t holds = rebout_pad(inputs[player], 0) & PRESS;
        if (holds && !game->held[player]) {
            game->counters[player] += 1 + (int32_t)(game->rng >> 31);
            rebout_emit(cues, CLICK);
        }
        game->held[player] = holds;
        rebout_phase(cues, player ? "player two" : "player one");
    }
}

static int32_t counters_finished(void *user) {
    return ((struct counters *)user)->frame >= FRAMES;
}

/* A new game from the seed that both machines have agreed on, and its description for the library. */
static inline rebout_game counters_new(struct counters *game, uint32_t seed) {
    memset(game, 0, sizeof *game);
    game->rng = seed;
    rebout_game table = {.size = sizeof table, .state_bytes = sizeof *game};
    table.user = game;
    table.state = game; /* the state lies in one piece: the library saves and restores it */
    table.step = counters_step;
    table.finished = counters_finished;
    table.regions = regions;
    table.region_count = sizeof regions / sizeof regions[0];
    return table;
}

/* A player that presses now and then. */
static inline uint64_t counters_bot(const struct counters *game, uint32_t seat) {
    return game->frame / (5 + 2 * seat) % 2 ? PRESS : 0;
}

#endif
