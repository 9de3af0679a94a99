/* A match of two processes by invite, played by bots:
 *
 *     ./duel host              prints an invite
 *     ./duel join INVITE       in another terminal
 *
 * DUEL_RECORD and DUEL_BUNDLES name folders for the recording and for a report about a desync. DUEL_FAULT=1 plants a fault.
 * DUEL_BIND=127.0.0.1:0 keeps the match on this machine. */
#include "counters.h"
#include <stdlib.h>

/* A mistake on purpose: this machine steps one frame in another way. */
static void faulty_step(void *user, const uint64_t *inputs, rebout_step_cues *cues, int32_t shown) {
    struct counters *game = user;
    counters_step(user, inputs, cues, shown);
    game->counters[0] += game->frame == 100 ? 5 : 0;
}

/* The library owns the loop: rebout_wait sleeps until there is something to do. */
static int play(rebout *match, struct counters *game) {
    uint32_t seat = 0, clicks = 0;
    for (;;) {
        rebout_turn turn = {.size = sizeof turn};
        if (rebout_wait(match, &turn) != REBOUT_STATUS_OK)
            return 2;
        switch (turn.now) {
        case REBOUT_NOW_BEGIN: {
            seat = turn.seat;
            rebout_game table = counters_new(game, turn.seed);
            if (getenv("DUEL_FAULT") && seat == 0)
                table.step = faulty_step;
            if (rebout_start(match, &table) != REBOUT_STATUS_OK)
                return 2;
            break;
        }
        case REBOUT_NOW_FRAME: {
            if (rebout_advance(match, counters_bot(game, seat), NULL) != REBOUT_STATUS_OK)
                return 2;
            const rebout_cue_event *cues;
            size_t count;
            rebout_cues(match, &cues, &count);
            for (size_t i = 0; i < count; i++)
                clicks += cues[i].change == REBOUT_CHANGE_CONFIRM;
            break;
        }
        case REBOUT_NOW_EVENT:
            if (turn.event == REBOUT_EVENT_AUTOPSY)
                printf("%s\n", turn.text);
            break;
        case REBOUT_NOW_NOTICE:
            printf("%s\n", turn.text);
            break;
        case REBOUT_NOW_FINISHED:
            printf("%s\n%d to %d, %u clicks, frame %u, %08X\n", turn.text, (int)game->counters[0],
                   (int)game->counters[1], (unsigned)clicks, (unsigned)turn.frame, (unsigned)turn.ours);
            return turn.verdict == REBOUT_VERDICT_AGREED ? 0 : 1;
        default: /* REBOUT_NOW_CONNECTING has a text to show */
            break;
        }
        fflush(stdout);
    }
}

int main(int argc, char **argv) {
    int hosts = argc == 2 && !strcmp(argv[1], "host");
    if (!hosts && (argc != 3 || strcmp(argv[1], "join"))) {
        fprintf(stderr, "usage: %s host | join INVITE\n", argv[0]);
        return 2;
    }
    rebout_options options;
    rebout_options_init(&options, sizeof options);
    options.game_id = 0x6475656C;
    options.name = hosts ? "Ann" : "Ben";
    options.record_to = getenv("DUEL_RECORD");
    options.bundles_to = getenv("DUEL_BUNDLES");
    options.bind = getenv("DUEL_BIND");
    options.port_mapping = !options.bind;
    options.join_timeout_ms = 60000;

    rebout *match = rebout_new();
    struct counters game = {0};
    int result = 2;
    if ((hosts ? rebout_host(match, &options) : rebout_join(match, &options, argv[2])) == REBOUT_STATUS_OK) {
        const char *invite;
        if (hosts && rebout_share(match, &invite) == REBOUT_STATUS_OK)
            printf("invite %s\n", invite);
        fflush(stdout);
        result = play(match, &game);
    }
    if (result == 2)
        fprintf(stderr, "%s\n", rebout_error(match));
    rebout_close(match); /* the last message gets through */
    rebout_free(&match);
    return result;
}
