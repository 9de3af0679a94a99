/* Tests a game: the sync test on one machine, then matches of two machines over thirteen simulated links.
 *
 *     ./stress [FRAMES]
 *
 * STRESS_FAULT=1 plants a fault: a counter that is not part of the state. */
#include "counters.h"
#include <stdlib.h>

static uint32_t outside; /* the mistake: it survives a rollback */

static void faulty_step(void *user, const uint64_t *inputs, rebout_step_cues *cues, int32_t shown) {
    struct counters *game = user;
    counters_step(user, inputs, cues, shown);
    outside += rebout_pad(inputs[0], 0) & PRESS;
    game->counters[1] += outside % 50 == 49;
}

static int32_t never(void *user) {
    (void)user;
    return 0;
}

/* A game for a machine or for the oracle. Several are alive at once. */
static int32_t make(void *user, uint32_t seed, uint32_t seat, rebout_game *game) {
    struct counters *state = malloc(sizeof *state);
    (void)user;
    (void)seat;
    if (!state)
        return 0;
    *game = counters_new(state, seed);
    game->finished = never; /* the test ends its matches */
    game->release = free;
    if (getenv("STRESS_FAULT"))
        game->step = faulty_step;
    return 1;
}

int main(int argc, char **argv) {
    rebout *tests = rebout_new();
    const char *report;
    rebout_game game = {.size = sizeof game};
    if (!make(NULL, 1, 2, &game))
        return 2;
    rebout_status passed = rebout_sync_test(tests, &game, NULL);
    game.release(game.user);
    if (passed == REBOUT_STATUS_OK) {
        rebout_report(tests, &report);
        printf("sync test: %s\n", report);
    } else {
        printf("sync test: %s\n", rebout_error(tests));
    }

    rebout_stress_plan plan = {.size = sizeof plan, .name = "counters", .make = make};
    plan.frames = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    rebout_status well = rebout_stress(tests, &plan);
    if (rebout_report(tests, &report) == REBOUT_STATUS_OK)
        printf("%s\n", well == REBOUT_STATUS_OK || well == REBOUT_STATUS_FAILED ? report : rebout_error(tests));
    rebout_free(&tests);
    return passed == REBOUT_STATUS_OK && well == REBOUT_STATUS_OK ? 0 : 1;
}
