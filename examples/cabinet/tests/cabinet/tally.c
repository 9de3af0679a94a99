/* A libretro core of our own for tests, and faults to be planted in it by -DFAULT_... when it is built.
 *
 * Its machine is 64 bytes of memory: each button that is held adds its number to a byte of its player, a counter counts frames,
 * and a generator mixes both, so that every later state depends on every earlier input.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct system_info { const char *name, *version, *extensions; bool need_fullpath, block_extract; };
struct av_info { unsigned width, height, max_width, max_height; float aspect; double fps, sample_rate; };
struct variable { const char *key, *value; };
struct game_info { const char *path; const void *data; size_t size; const char *meta; };
struct log_callback { void (*log)(unsigned level, const char *format, ...); };

typedef bool (*environment_t)(unsigned, void *);
typedef void (*video_t)(const void *, unsigned, unsigned, size_t);
typedef void (*sample_t)(int16_t, int16_t);
typedef size_t (*batch_t)(const int16_t *, size_t);
typedef void (*poll_t)(void);
typedef int16_t (*input_t)(unsigned, unsigned, unsigned, unsigned);

static environment_t environment;
static video_t video;
static batch_t batch;
static poll_t poll;
static input_t input;

#define MEMORY 64
static uint8_t memory[MEMORY];
static uint16_t picture[48][64];
static int16_t sound[2 * 800];
#ifdef FAULT_HIDDEN
static uint8_t hidden;
#endif
#ifdef FAULT_GROWS
static size_t grown;
#endif

#define EXPORT __attribute__((visibility("default")))

EXPORT void retro_set_environment(environment_t callback) {
    static const struct variable variables[] = {
        {"tally_step", "How much a button adds; 1|2|3"}, {"tally_colour", "Colour of the picture; red|blue"}, {NULL, NULL}};
    environment = callback;
    environment(16, (void *)variables);
}
EXPORT void retro_set_video_refresh(video_t callback) { video = callback; }
EXPORT void retro_set_audio_sample(sample_t callback) { (void)callback; }
EXPORT void retro_set_audio_sample_batch(batch_t callback) { batch = callback; }
EXPORT void retro_set_input_poll(poll_t callback) { poll = callback; }
EXPORT void retro_set_input_state(input_t callback) { input = callback; }

EXPORT void retro_init(void) {
#ifdef FAULT_CRASHES
    abort();
#endif
#ifdef FAULT_HANGS
    for (;;) { *(volatile uint8_t *)memory += 1; }
#endif
#ifdef FAULT_EXITS
    exit(7);
#endif
}
EXPORT void retro_deinit(void) {}
EXPORT unsigned retro_api_version(void) {
#ifdef FAULT_VERSION
    return 2;
#else
    return 1;
#endif
}
EXPORT void retro_get_system_info(struct system_info *info) {
    memset(info, 0, sizeof *info);
    info->name = "Tally";
    info->version = VERSION;
    info->extensions = "bin";
}
EXPORT void retro_get_system_av_info(struct av_info *info) {
    memset(info, 0, sizeof *info);
    info->width = info->max_width = 64;
    info->height = info->max_height = 48;
    info->sample_rate = 48000.0;
#ifdef FAULT_RATE
    info->fps = 0.0;
#else
    info->fps = 60.0;
#endif
}
EXPORT void retro_set_controller_port_device(unsigned port, unsigned device) { (void)port, (void)device; }
EXPORT void retro_reset(void) { memset(memory, 0, MEMORY); }

EXPORT bool retro_load_game(const struct game_info *game) {
    unsigned format = 2;
#ifdef FAULT_WANTS_BIOS
    struct log_callback log;
    if (environment(27, &log)) log.log(3, "BIOS %s is not in %s, error %d\n", "tally.bin", "the folder", -2);
    return false;
#endif
#ifdef FAULT_CARD
    environment(14, NULL);
    return false;
#endif
    memset(memory, 0, MEMORY);
    memory[8] = game->size ? *(const uint8_t *)game->data : 0;
#ifdef FAULT_UNSET
    {
        /* A byte of the state that is never set: it is what the memory had before. */
        volatile uint8_t *chip = malloc(4096);
        if (!chip) return false;
        memory[62] = chip[100];
        free((void *)chip);
    }
#endif
#ifdef FAULT_FRESH
    memory[63] = (uint8_t)((uintptr_t)memory >> 12);
#endif
    return environment(10, &format);
}
EXPORT void retro_unload_game(void) {}
EXPORT unsigned retro_get_region(void) { return 0; }

static uint8_t step(void) {
    struct variable asked = {"tally_step", NULL};
    return environment(15, &asked) && asked.value ? (uint8_t)(asked.value[0] - '0') : 0;
}

EXPORT void retro_run(void) {
    unsigned port, button, at, rows = 48;
    uint32_t mixed;
    poll();
    for (port = 0; port < 4; ++port) {
        for (button = 0; button < 16; ++button) {
            if (input(port, 1, 0, button)) memory[port] = (uint8_t)(memory[port] + step() * (button + 1));
        }
    }
    memcpy(&mixed, memory + 16, 4);
    mixed = mixed * 1664525u + 1013904223u + memory[0] + 3u * memory[1] + 5u * memory[2] + 7u * memory[3];
    memcpy(memory + 16, &mixed, 4);
    memory[20] = (uint8_t)(memory[20] + 1);
    memory[41] = 0;
#ifdef FAULT_HIDDEN
    /* A turbo counter outside of the state: it counts while X is held. */
    if (input(0, 1, 0, 9) && ++hidden % 4 == 0) memory[0] = (uint8_t)(memory[0] + 1);
#endif
#ifdef FAULT_SHOWN
    {
        unsigned enabled = 3;
        environment(47 | 0x10000, &enabled);
        if (enabled & 1) memory[30] = (uint8_t)(memory[30] + 1);
    }
#endif
#ifdef FAULT_GEOMETRY
    if (memory[20] % 2) rows = 24;
#endif
#ifdef FAULT_GROWS
    grown += 16;
#endif
    for (at = 0; at < 48 * 64; ++at) picture[at / 64][at % 64] = (uint16_t)(memory[20] * 33u + at);
    for (at = 0; at < 800; ++at) sound[2 * at] = sound[2 * at + 1] = (int16_t)((at * 110 % 800 < 400) ? 3000 : -3000);
    video(picture, 64, rows, sizeof picture[0]);
    batch(sound, 800);
}

EXPORT size_t retro_serialize_size(void) {
#ifdef FAULT_NO_STATES
    return 0;
#elif defined FAULT_HUGE
    return (size_t)64 << 20;
#elif defined FAULT_GROWS
    return MEMORY + 8 + grown;
#else
    return MEMORY + 8;
#endif
}
EXPORT bool retro_serialize(void *state, size_t size) {
    if (size < MEMORY) return false;
#ifdef FAULT_GROWS
    if (size < MEMORY + 8 + grown) return false;
#endif
#ifdef FAULT_SAVE
    /* A save that first runs the machine on to a point where it can be saved, and reads the pads there. */
    if (!memory[41]) memory[40] = (uint8_t)(memory[40] + 1 + input(0, 1, 0, 8));
    memory[41] = 1;
#endif
#ifdef FAULT_POLLS
    /* A save that polls the pads, in few frames. */
    if (memory[20] % 32 == 31) poll();
#endif
    memcpy(state, memory, MEMORY);
#ifdef FAULT_LEFTOVER
    {
        /* Two bytes that were never set, and are not restored. */
        uint16_t leftover = (uint16_t)((uintptr_t)memory >> 12);
        memcpy((uint8_t *)state + MEMORY, &leftover, 2);
    }
#endif
    return true;
}
EXPORT bool retro_unserialize(const void *state, size_t size) {
    if (size < MEMORY) return false;
    memcpy(memory, state, MEMORY);
    return true;
}
EXPORT void *retro_get_memory_data(unsigned kind) { return kind == 2 ? memory : NULL; }
EXPORT size_t retro_get_memory_size(unsigned kind) { return kind == 2 ? MEMORY : 0; }
