/* The library in a loop that is not its own: an engine that draws, sleeps and polls. With SDL2 (make HAS_SDL=1) it has a window, otherwise a
 * line of the terminal.
 *
 *     ./engine                 at this machine, against a bot
 *     ./engine host            prints an invite
 *     ./engine join INVITE
 *
 * ENGINE_BOT=1 lets a bot press. */
#define _POSIX_C_SOURCE 200809L
#include "counters.h"
#include <stdlib.h>
#ifdef HAS_SDL
#include <SDL.h>
#else
#include <time.h>
#endif

struct screen {
#ifdef HAS_SDL
    SDL_Window *window;
    SDL_Renderer *renderer;
#else
    unsigned frames;
#endif
    int quits;
};

#ifdef HAS_SDL
static void screen_open(struct screen *screen) {
    SDL_Init(SDL_INIT_VIDEO);
    screen->window = SDL_CreateWindow("counters", SDL_WINDOWPOS_CENTERED, SDL_WINDOWPOS_CENTERED, 640, 120, 0);
    screen->renderer = SDL_CreateRenderer(screen->window, -1, 0);
}

static uint64_t screen_read(struct screen *screen) {
    SDL_Event event;
    while (SDL_PollEvent(&event))
        screen->quits |= event.type == SDL_QUIT;
    return SDL_GetKeyboardState(NULL)[SDL_SCANCODE_SPACE] ? PRESS : 0;
}

static void screen_draw(struct screen *screen, const struct counters *game, const char *text) {
    SDL_SetWindowTitle(screen->window, text);
    SDL_SetRenderDrawColor(screen->renderer, 20, 20, 30, 255);
    SDL_RenderClear(screen->renderer);
    for (int player = 0; player < 2; player++) {
        SDL_Rect bar = {10, 10 + 55 * player, 4 * (int)game->counters[player], 45};
        SDL_SetRenderDrawColor(screen->renderer, player ? 230 : 80, 120, player ? 80 : 230, 255);
        SDL_RenderFillRect(screen->renderer, &bar);
    }
    SDL_RenderPresent(screen->renderer);
    SDL_Delay(4);
}

static void screen_close(struct screen *screen) {
    SDL_DestroyRenderer(screen->renderer);
    SDL_DestroyWindow(screen->window);
    SDL_Quit();
}
#else
static void screen_open(struct screen *screen) {
    (void)screen;
}

static uint64_t screen_read(struct screen *screen) {
    (void)screen; /* a terminal does not tell which keys are held */
    return 0;
}

static void screen_draw(struct screen *screen, const struct counters *game, const char *text) {
    if (screen->frames++ % 16 == 0) {
        printf("\r%3d : %-3d %-60.60s", (int)game->counters[0], (int)game->counters[1], text);
        fflush(stdout);
    }
    nanosleep(&(struct timespec){.tv_nsec = 4000000}, NULL);
}

static void screen_close(struct screen *screen) {
    (void)screen;
    printf("\n");
}
#endif

/* One turn of the engine: everything that is due, without waiting. Returns 1 when the match is over. */
static int update(rebout *match, struct counters *game, struct screen *screen, char *text, size_t room) {
    for (;;) {
        rebout_turn turn = {.size = sizeof turn};
        if (rebout_poll(match, &turn) != REBOUT_STATUS_OK) {
            snprintf(text, room, "%s", rebout_error(match));
            return 1;
        }
        if (turn.text[0])
            snprintf(text, room, "%s", turn.text);
        if (turn.now == REBOUT_NOW_BEGIN) {
            rebout_game table = counters_new(game, turn.seed);
            rebout_start(match, &table);
            text[0] = 0;
        } else if (turn.now == REBOUT_NOW_FRAME) {
            rebout_terms terms = {.size = sizeof terms};
            uint32_t seat = rebout_agreed(match, &terms) == REBOUT_STATUS_OK ? terms.seat : 0;
            uint64_t input = screen_read(screen); /* as late as possible */
            if (getenv("ENGINE_BOT"))
                input = counters_bot(game, seat);
            rebout_advance_both(match, input, counters_bot(game, 1), NULL); /* online the second one does not count */
        } else if (turn.now == REBOUT_NOW_FINISHED) {
            return 1;
        } else if (turn.now != REBOUT_NOW_EVENT && turn.now != REBOUT_NOW_NOTICE) {
            return 0;
        }
    }
}

int main(int argc, char **argv) {
    rebout_options options;
    rebout_options_init(&options, sizeof options);
    options.game_id = 0x6475656C;
    options.name = argc > 2 ? "Ben" : "Ann";
    rebout *match = rebout_new();
    rebout_status opened = argc > 2   ? rebout_join(match, &options, argv[2])
                           : argc > 1 ? rebout_host(match, &options)
                                      : rebout_offline(match, &options);
    struct counters game = {0};
    struct screen screen = {0};
    char text[256] = "";
    if (opened == REBOUT_STATUS_OK) {
        const char *invite;
        if (argc == 2 && rebout_share(match, &invite) == REBOUT_STATUS_OK)
            printf("invite %s\n", invite);
        screen_open(&screen);
        while (!screen.quits && !update(match, &game, &screen, text, sizeof text))
            screen_draw(&screen, &game, text);
        screen_draw(&screen, &game, text);
        screen_close(&screen);
        printf("%s %d to %d\n", text, (int)game.counters[0], (int)game.counters[1]);
    } else {
        fprintf(stderr, "%s\n", rebout_error(match));
    }
    rebout_close(match);
    rebout_free(&match);
    return opened == REBOUT_STATUS_OK ? 0 : 2;
}
