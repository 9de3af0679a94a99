/* rebout: deterministic rollback matches of two machines, for games in C and C++.
 *
 * docs/C.md explains the interface: the loop, who owns what, threads, other languages.
 *
 * Every function checks its arguments for NULL, and that it belongs to the phase of the match. It changes nothing if it answers
 * REBOUT_STATUS_NULL, INVALID, PHASE or BUSY. rebout_error has the text of the last failure.
 *
 * Written by cbindgen from bindings/c/src. Do not edit it. */

#ifndef REBOUT_H
#define REBOUT_H

#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
#define REBOUT_CAST(type, value) static_cast<type>(value)
#else
#define REBOUT_CAST(type, value) ((type)(value))
#endif

/* A region of a state that is a struct: REBOUT_FIELD(struct world, frame, 0), REBOUT_ARRAY(struct world, counters, REBOUT_REGION_SIGNED). A
 * member may be one of an inner struct, such as fighters[0].hp. */
#define REBOUT_FIELD(type, member, flags) \
    {#member, REBOUT_CAST(uint32_t, offsetof(type, member)), REBOUT_CAST(uint32_t, sizeof(((type *)0)->member)), 1, (flags), 0, 0}
#define REBOUT_ARRAY(type, member, flags) \
    {#member, REBOUT_CAST(uint32_t, offsetof(type, member)), REBOUT_CAST(uint32_t, sizeof(((type *)0)->member[0])), \
     REBOUT_CAST(uint32_t, sizeof(((type *)0)->member) / sizeof(((type *)0)->member[0])), (flags), 0, 0}

/* Inputs are 64 bits: the buttons of a pad in the low 16, and then six axes of 8 bits, or three more pads of 16. */

/* The buttons of a pad, 0 to 3; those of pad 0 without pads. */
static inline uint16_t rebout_pad(uint64_t input, unsigned pad) {
    if (pad >= 4)
        return 0;
    return REBOUT_CAST(uint16_t, (input >> (16 * pad)) & 0xFFFF);
}

/* The input with these buttons on a pad. */
static inline uint64_t rebout_with_pad(uint64_t input, unsigned pad, uint16_t buttons) {
    uint64_t mask = REBOUT_CAST(uint64_t, 0xFFFF);
    return pad < 4 ? (input & ~(mask << (16 * pad))) | (REBOUT_CAST(uint64_t, buttons) << (16 * pad)) : input;
}

/* An axis, 0 to 5, from -128 to 127. */
static inline int rebout_axis(uint64_t input, unsigned axis) {
    int value = axis < 6 ? REBOUT_CAST(int, (input >> (16 + 8 * axis)) & 0xFF) : 0;
    return value < 128 ? value : value - 256;
}

/* The input with an axis at a value from -128 to 127. */
static inline uint64_t rebout_with_axis(uint64_t input, unsigned axis, int value) {
    uint64_t bits = REBOUT_CAST(uint64_t, value) & 0xFF;
    uint64_t mask = REBOUT_CAST(uint64_t, 0xFF);
    return axis < 6 ? (input & ~(mask << (16 + 8 * axis))) | (bits << (16 + 8 * axis)) : input;
}


// The numbers of a region have a sign.
#define REBOUT_REGION_SIGNED 1

// The region is saved and restored, and never compared.
#define REBOUT_REGION_NOT_COMPARED 2

// The numbers are named by addresses from base on, in hexadecimal: wram[0x7e0012].
#define REBOUT_REGION_ADDRESSED 4

// The major version of this header.
#define REBOUT_VERSION_MAJOR 0

// The minor version of this header.
#define REBOUT_VERSION_MINOR 2

// The patch of this header.
#define REBOUT_VERSION_PATCH 0

// The answer of a function.
enum rebout_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // Done.
    REBOUT_STATUS_OK = 0,
    // An argument is NULL that must not be. Nothing was changed.
    REBOUT_STATUS_NULL = 1,
    // An argument is not valid; rebout_error says why. Nothing was changed.
    REBOUT_STATUS_INVALID = 2,
    // The call does not belong here: there is no match, or it has begun already. Nothing was changed.
    REBOUT_STATUS_PHASE = 3,
    // It was tried and did not work; rebout_error says why, in a text that can be shown to a player.
    REBOUT_STATUS_FAILED = 4,
    // The transport is broken. The match is over.
    REBOUT_STATUS_TRANSPORT = 5,
    // Another call on this handle has not returned: a second thread, a call from a callback, or a callback that was left by longjmp.
    REBOUT_STATUS_BUSY = 6,
    // A callback or the library panicked. Only rebout_error and rebout_free still work on the handle.
    REBOUT_STATUS_PANICKED = 7,
    // The library was built without this part.
    REBOUT_STATUS_UNSUPPORTED = 8,
    // A buffer of the caller is too small; the needed size was told.
    REBOUT_STATUS_TOO_SMALL = 9,
    // Too many messages are under way, or too many datagrams wait: try again later.
    REBOUT_STATUS_FULL = 10,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum rebout_status rebout_status;
#else
typedef int32_t rebout_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// The next thing to do.
enum rebout_now
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // There is nothing to do: draw.
    REBOUT_NOW_IDLE = 0,
    // The other machine is not there yet: show text.
    REBOUT_NOW_CONNECTING = 1,
    // A guest asks to play, and the options say to ask: text is its name. Call rebout_answer.
    REBOUT_NOW_GUEST = 2,
    // Both have agreed. Build the game from seed, and from bytes if there are any, and call rebout_start.
    REBOUT_NOW_BEGIN = 3,
    // A frame is due: read the input, and call rebout_advance.
    REBOUT_NOW_FRAME = 4,
    // Something happened in the match: event.
    REBOUT_NOW_EVENT = 5,
    // text is for the player or a log.
    REBOUT_NOW_NOTICE = 6,
    // The match is over, or there will be none: finish. text is for the player.
    REBOUT_NOW_FINISHED = 7,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum rebout_now rebout_now;
#else
typedef uint32_t rebout_now;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// An event of a match.
enum rebout_event
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // No event.
    REBOUT_EVENT_NONE = 0,
    // No new frame has come for a while. The match is over at time_nanos if none comes.
    REBOUT_EVENT_INTERRUPTED = 1,
    // Frames come again.
    REBOUT_EVENT_RESUMED = 2,
    // The states of frame differ: checksums ours and theirs.
    REBOUT_EVENT_DESYNC = 3,
    // text is the report about a desync: which region differs, since which frame, and why.
    REBOUT_EVENT_AUTOPSY = 4,
    // The peer sent another input for the confirmed frame; it was refused.
    REBOUT_EVENT_INPUT_CONFLICT = 5,
    // bytes are a message of the other game. They may be anything.
    REBOUT_EVENT_MESSAGE = 6,
    // The peer has changed its input delay to delay_frames.
    REBOUT_EVENT_PEER_DELAY = 7,
    // The session has changed the input delay of this machine to delay_frames.
    REBOUT_EVENT_DELAY_CHANGED = 8,
    // The frames of the peer come at rate_permille of the agreed rate.
    REBOUT_EVENT_PEER_SLOW = 9,
    // The match runs at the agreed rate again.
    REBOUT_EVENT_PEER_RECOVERED = 10,
    // The peer's inputs come time_nanos later than its other packets explain.
    REBOUT_EVENT_INPUTS_LATE = 11,
    // A state could not be saved or restored here; text says why. The match is over for both.
    REBOUT_EVENT_STATE_FAILED = 12,
    // The match is paused by the player in seat.
    REBOUT_EVENT_PAUSED = 13,
    // The match goes on at time_nanos.
    REBOUT_EVENT_RESUMING = 14,
    // The pause is over.
    REBOUT_EVENT_PAUSE_ENDED = 15,
    // The other machine did not agree to the pause.
    REBOUT_EVENT_PAUSE_REFUSED = 16,
    // The times of rebout_set_time do not fit together; they differ by time_nanos.
    REBOUT_EVENT_CLOCK_MISTAKE = 17,
    // A rollback over the whole window takes time_nanos, longer than a frame. window_frames fit into one, and delay_frames are
    // enough with that window.
    REBOUT_EVENT_SLOW_ROLLBACK = 18,
    // An event that has no number yet. text describes it.
    REBOUT_EVENT_OTHER = 19,
    // The live state of a machine had gone wrong, and both have stepped the confirmed inputs again: frame is the restored one, and states
    // are right from to_frame on.
    REBOUT_EVENT_MENDED = 20,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum rebout_event rebout_event;
#else
typedef uint32_t rebout_event;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// How a match ended.
enum rebout_finish
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // It has not.
    REBOUT_FINISH_NONE = 0,
    // It was played to its end: see verdict.
    REBOUT_FINISH_PLAYED = 1,
    // It was over before its end, or was left: see reason.
    REBOUT_FINISH_ENDED = 2,
    // The host refused, or the two machines do not fit.
    REBOUT_FINISH_REFUSED = 3,
    // The other machine was not reached.
    REBOUT_FINISH_UNREACHED = 4,
    // This machine came back, but the match cannot go on.
    REBOUT_FINISH_NOT_RESUMED = 5,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum rebout_finish rebout_finish;
#else
typedef uint32_t rebout_finish;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// The verdict about a match that was played to its end.
enum rebout_verdict
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // No verdict.
    REBOUT_VERDICT_NONE = 0,
    // Both machines have the last state of frame with the checksum ours: the result counts.
    REBOUT_VERDICT_AGREED = 1,
    // The machines have different last states: ours and theirs.
    REBOUT_VERDICT_DIFFERS = 2,
    // The peer was gone before its verdict came.
    REBOUT_VERDICT_UNCONFIRMED = 3,
    // The match was played at one machine.
    REBOUT_VERDICT_LOCAL = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum rebout_verdict rebout_verdict;
#else
typedef uint32_t rebout_verdict;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Why a match was over before its end.
enum rebout_reason
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // No reason.
    REBOUT_REASON_NONE = 0,
    // The other player left.
    REBOUT_REASON_LEFT = 1,
    // This player left.
    REBOUT_REASON_LEFT_HERE = 2,
    // No packet came for too long.
    REBOUT_REASON_TIMED_OUT = 3,
    // Packets came, but no new frame.
    REBOUT_REASON_NO_PROGRESS = 4,
    // New frames came far too slowly.
    REBOUT_REASON_TOO_SLOW = 5,
    // The other side heard nothing new of this machine, and gave up.
    REBOUT_REASON_GAVE_UP = 6,
    // The other player's program was restarted.
    REBOUT_REASON_RESTARTED = 7,
    // The machines desynced, and the options of one say to stop then.
    REBOUT_REASON_DESYNC = 8,
    // Two checksums of the machine of seat were void.
    REBOUT_REASON_VOID_CHECKSUMS = 9,
    // The peer did not send its notes about a desync.
    REBOUT_REASON_NOTES_WITHHELD = 10,
    // The peer's inputs were too old for too long.
    REBOUT_REASON_INPUTS_HELD_BACK = 11,
    // The other machine's game could not save or restore a state.
    REBOUT_REASON_STATE_FAILED = 12,
    // This machine's game could not save or restore a state.
    REBOUT_REASON_STATE_FAILED_HERE = 13,
    // A pause was longer than the other player allowed.
    REBOUT_REASON_PAUSED_TOO_LONG = 14,
    // The times of rebout_set_time do not fit together.
    REBOUT_REASON_CLOCK_MISTAKE = 15,
    // The peer broke the rules of the protocol.
    REBOUT_REASON_PROTOCOL_VIOLATION = 16,
    // The match has reached the last frame number.
    REBOUT_REASON_FRAME_LIMIT = 17,
    // A reason of a newer library; the text describes it.
    REBOUT_REASON_OTHER = 18,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum rebout_reason rebout_reason;
#else
typedef uint32_t rebout_reason;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// The outcome of rebout_advance.
enum rebout_advanced
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // It stepped a frame.
    REBOUT_ADVANCED_STEPPED = 0,
    // The frame waits for the other side. Presses are kept, and the state may have been corrected: draw it.
    REBOUT_ADVANCED_STALLED = 1,
    // The match is paused.
    REBOUT_ADVANCED_PAUSED = 2,
    // No frame is due yet.
    REBOUT_ADVANCED_NOT_DUE = 3,
    // The match is over.
    REBOUT_ADVANCED_ENDED = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum rebout_advanced rebout_advanced;
#else
typedef uint32_t rebout_advanced;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// A change to a cue.
enum rebout_change
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // The cue begins, late_by frames late if a rollback found it.
    REBOUT_CHANGE_START = 0,
    // The cue was mispredicted: fade the sound out.
    REBOUT_CHANGE_CANCEL = 1,
    // The cue is certain.
    REBOUT_CHANGE_CONFIRM = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum rebout_change rebout_change;
#else
typedef uint32_t rebout_change;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What a spectator receives.
enum rebout_watching
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // It asks the broadcast, and has no answer yet.
    REBOUT_WATCHING_ASKING = 0,
    // There is no match to see yet.
    REBOUT_WATCHING_WAITING = 1,
    // It receives a match.
    REBOUT_WATCHING_RECEIVING = 2,
    // The whole match is here.
    REBOUT_WATCHING_COMPLETE = 3,
    // The broadcast has sent it away.
    REBOUT_WATCHING_REFUSED = 4,
    // The broadcast sent bytes that its source has not signed.
    REBOUT_WATCHING_FORGED = 5,
    // No broadcast answers.
    REBOUT_WATCHING_LOST = 6,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum rebout_watching rebout_watching;
#else
typedef uint32_t rebout_watching;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What a spectator sees.
enum rebout_viewing
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // Nothing yet.
    REBOUT_VIEWING_NOTHING = 0,
    // It steps through the frames that were there before, as fast as it may.
    REBOUT_VIEWING_CATCHING_UP = 1,
    // New frames as they come, about a second late.
    REBOUT_VIEWING_LIVE = 2,
    // Frames of the past at normal speed.
    REBOUT_VIEWING_BEHIND = 3,
    // One frame.
    REBOUT_VIEWING_PAUSED = 4,
    // The last frame of a match that is over.
    REBOUT_VIEWING_ENDED = 5,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum rebout_viewing rebout_viewing;
#else
typedef uint32_t rebout_viewing;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Who may join a host, for rebout_options.access.
enum rebout_access
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // Who has the invite. Encrypted, and nobody can pose as the host.
    REBOUT_ACCESS_INVITE = 0,
    // Who knows the address. Encrypted; the players compare a code.
    REBOUT_ACCESS_OPEN = 1,
    // Who knows the address, without encryption. Both sides have to name it.
    REBOUT_ACCESS_BARE = 2,
    // Who has the offer, and sends back an answer.
    REBOUT_ACCESS_MANUAL = 3,
    // Whomever a transport of the caller's brings, which encrypts and authenticates by itself.
    REBOUT_ACCESS_TRANSPORT = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum rebout_access rebout_access;
#else
typedef uint32_t rebout_access;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Whether a relay may carry the match, for rebout_options.relay.
enum rebout_relay
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // Where no direct path works.
    REBOUT_RELAY_ALLOW = 0,
    // Never.
    REBOUT_RELAY_NEVER = 1,
    // Always: the other player never learns an address of this machine.
    REBOUT_RELAY_ONLY = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum rebout_relay rebout_relay;
#else
typedef uint32_t rebout_relay;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Which frames are saved, for rebout_options.saving.
enum rebout_saving
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // As measured before the first frame.
    REBOUT_SAVING_AUTO = 0,
    // Every frame.
    REBOUT_SAVING_EVERY = 1,
    // As few as possible: a rollback steps more frames again.
    REBOUT_SAVING_SPARSE = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum rebout_saving rebout_saving;
#else
typedef uint32_t rebout_saving;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// The prediction of a missing input, for rebout_options.prediction.
enum rebout_prediction
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // The last input goes on.
    REBOUT_PREDICTION_REPEAT_LAST = 0,
    // Nothing is pressed.
    REBOUT_PREDICTION_NEUTRAL = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum rebout_prediction rebout_prediction;
#else
typedef uint32_t rebout_prediction;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// The reaction to a desync, for rebout_options.on_desync.
enum rebout_on_desync
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    // The game is told, the two machines find out which region differs, and the match goes on.
    REBOUT_ON_DESYNC_REPORT = 0,
    // The game is told, and the match goes on.
    REBOUT_ON_DESYNC_GO_ON = 1,
    // As REPORT, and the match is over.
    REBOUT_ON_DESYNC_STOP = 2,
    // As STOP, unless the live state of one machine alone had gone wrong: it is then mended, once in a match. Both machines need it.
    REBOUT_ON_DESYNC_MEND = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum rebout_on_desync rebout_on_desync;
#else
typedef uint32_t rebout_on_desync;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// A match, from the invite to the verdict; or a recording.
//
// One thread at a time may use it; it need not always be the same. A call while another one runs is answered with
// REBOUT_STATUS_BUSY, also a call from a callback.
typedef struct rebout rebout;

// The cues of a step. It lives until the step returns.
typedef struct rebout_step_cues rebout_step_cues;

// The options of a match. Call rebout_options_init first. Texts are UTF-8 and may be NULL; nothing is kept of the caller's memory.
typedef struct rebout_options {
    // sizeof(rebout_options).
    uint32_t size;
    // REBOUT_ACCESS_*.
    uint32_t access;
    // Any number that names the game. Both machines have the same.
    uint64_t game_id;
    // A hash of all that must be equal on both machines: build, stage, rules.
    uint64_t content_hash;
    // Frames a second, as a fraction: 60 and 1 by default. Both machines have the same.
    uint32_t rate_numerator;
    // The denominator.
    uint32_t rate_denominator;
    // Axes of an input, 0 to 6. Both machines have the same.
    uint32_t axes;
    // Pads at each machine, 1 to 4; more than one leaves no room for axes. Both machines have the same.
    uint32_t pads;
    // The host's own seat: 0 for player one, 1 for player two.
    uint32_t seat;
    // The seed of the game, from the host; 0 draws one.
    uint32_t seed;
    // 1: the host decides about each guest, REBOUT_NOW_GUEST.
    uint32_t ask;
    // The longest first state that this machine takes from a host, in bytes; 0 takes none.
    uint32_t first_state_limit;
    // The player's name, which the other side sees: its first 64 bytes.
    const char *name;
    // Up to 64 bytes for the other side in place of a name.
    const uint8_t *user_data;
    // How many.
    size_t user_data_bytes;
    // The host's first state, from which both machines build their game, at most 4 MiB.
    const uint8_t *first_state;
    // How many bytes.
    size_t first_state_bytes;
    // Records each match into a file of this folder.
    const char *record_to;
    // Writes the report about a desync into a folder of this folder.
    const char *bundles_to;
    // The address to bind, such as 0.0.0.0:7000; NULL is every interface.
    const char *bind;
    // Addresses under which others reach this machine, with commas in between.
    const char *public_addresses;
    // The rendezvous at which the two meet: host:port or host.
    const char *rendezvous;
    // The STUN server for an offer.
    const char *stun;
    // The certificate authorities to trust, a PEM file, in place of Mozilla's list.
    const char *authorities;
    // The file in which a host keeps its key, so that old invites stay valid.
    const char *key_file;
    // Appends the keys of all connections to this file. For a developer's own matches.
    const char *key_log;
    // The UDP port; 0 is any. Not together with bind.
    uint32_t port;
    // REBOUT_RELAY_*.
    uint32_t relay;
    // 1: a host asks its router to forward its port.
    uint32_t port_mapping;
    // 1: the invite has no addresses of this machine, only the rendezvous.
    uint32_t leave_addresses_out;
    // The most frames that are predicted, 0 to 22.
    uint32_t window_frames;
    // The input delay, 0 to 24; -1 takes the one that the measured link suggests.
    int32_t delay_frames;
    // By how many frames the session may raise a measured delay.
    uint32_t added_delay_frames;
    // REBOUT_PREDICTION_*.
    uint32_t prediction;
    // REBOUT_SAVING_*.
    uint32_t saving;
    // How many frames rebout_look_ahead steps, 0 to 8.
    uint32_t look_ahead_frames;
    // The buttons whose presses are kept while the match stalls.
    uint32_t kept_buttons;
    // A cue that a rollback moves by at most this many frames is the same cue.
    uint32_t cue_moves_within;
    // Frames from one compared checksum to the next, from the host.
    uint32_t cadence_frames;
    // Pauses of each player that this machine agrees to.
    uint32_t pauses;
    // REBOUT_ON_DESYNC_*.
    uint32_t on_desync;
    // How long a joiner waits for an answer.
    uint32_t join_timeout_ms;
    // After how long without a frame the game is told.
    uint32_t interrupted_after_ms;
    // How long the match waits through an outage.
    uint32_t lost_after_ms;
    // How long without a new frame, although packets come.
    uint32_t no_progress_after_ms;
    // How long at less than a quarter of the rate.
    uint32_t too_slow_after_ms;
    // The oldest inputs that are borne; 0 is no limit.
    uint32_t max_input_age_ms;
    // How long the other player may pause.
    uint32_t max_pause_ms;
    // The countdown after a pause.
    uint32_t countdown_ms;
    // 0. Not 0 makes every random number a function of it: for simulations alone, because who knows it knows every key.
    uint64_t entropy;
    // The file of the player's own key, which is made if it does not exist: the other player knows this one again by it.
    const char *player_key_file;
    // Plays with these players only: their public keys in 64 hexadecimal digits each, with commas in between.
    const char *only;
    // A folder. While a match runs, a file in it has the key with which rebout_rejoin brings this player back.
    const char *rejoin_in;
    // After how many seconds the invites of a host are not valid any more; 0 is never.
    uint32_t invite_valid_secs;
    // The most spectators of a host by invite, at most 255; 0 lets in nobody.
    uint32_t max_spectators;
    // The age at which anything of a match is sent to spectators, at most 600,000.
    uint32_t watch_delay_ms;
    // The most bits in a second for all spectators together.
    uint32_t watch_bits_per_second;
    // 1: spectators get the messages of the players.
    uint32_t watch_messages;
    // 0.
    uint32_t reserved;
} rebout_options;

// A transport of the caller's, for peers that have a 64-bit id: a platform's network, a data channel. Set size to
// sizeof(rebout_transport), and the rest to 0.
//
// Without send and receive the match has neither a socket nor a clock: the caller moves the datagrams by rebout_deliver and
// rebout_take, and tells the time by rebout_set_time.
typedef struct rebout_transport {
    // sizeof(rebout_transport).
    uint32_t size;
    // 0.
    uint32_t reserved;
    // The id under which others reach this machine.
    uint64_t local_id;
    // The first argument of every callback.
    void *user;
    // Sends a datagram of at most 1,264 bytes to a peer. It must not block; a datagram that cannot be sent is lost.
    void (*send)(void *user, uint64_t to, const uint8_t *datagram, size_t bytes);
    // Receives one datagram into a buffer, and returns its length; 0 if none waits, and -1 if the transport is broken. It must not
    // block.
    ptrdiff_t (*receive)(void *user, uint64_t *from, uint8_t *datagram, size_t bytes);
    // Sleeps until a datagram has come, at most for so many nanoseconds. NULL: the library sleeps for a millisecond at a time.
    void (*wait)(void *user, uint64_t at_most_nanos);
    // The time in nanoseconds, on a clock that never runs backwards. NULL: the system's.
    uint64_t (*now)(void *user);
} rebout_transport;

// The other machine. Set size to sizeof(rebout_peer_info). Texts live until the next call of rebout_peer.
typedef struct rebout_peer_info {
    // sizeof(rebout_peer_info).
    uint32_t size;
    // 1 if it is certain who the peer is: by invite, or once a player has compared the code.
    uint32_t is_verified;
    // 1 if a relay carries the match.
    uint32_t is_relayed;
    // 1 if this machine reaches the relay over TLS.
    uint32_t is_over_tls;
    // By how much the way through the relay can be longer than a direct one; 0 if that is not known.
    uint64_t detour_nanos;
    // The address of the peer, or empty.
    const char *address;
    // The code that both players compare, or empty.
    const char *code;
} rebout_peer_info;

// The terms of a match. Set size to sizeof(rebout_terms). Bytes live until the next call of rebout_agreed, or the end of the match.
typedef struct rebout_terms {
    // sizeof(rebout_terms).
    uint32_t size;
    // The seed of the game.
    uint32_t seed;
    // The seat of this machine: 0 for player one, 1 for player two.
    uint32_t seat;
    // 1 if this machine is the host.
    uint32_t is_host;
    // The input delay of this machine at the start.
    uint32_t delay_frames;
    // The input delay of the peer.
    uint32_t peer_delay_frames;
    // The window of the peer.
    uint32_t peer_window_frames;
    // 0.
    uint32_t reserved;
    // The round trip as measured before the match; 0 if it was not.
    uint64_t round_trip_nanos;
    // The name or the user data of the peer. They may be any bytes.
    const uint8_t *user_data;
    // How many.
    size_t user_data_bytes;
    // The host's first state.
    const uint8_t *first_state;
    // How many bytes.
    size_t first_state_bytes;
} rebout_terms;

// The figures of a match. Set size to sizeof(rebout_stats).
typedef struct rebout_stats {
    // sizeof(rebout_stats).
    uint32_t size;
    // The frames that are predicted at present.
    uint32_t predicted_frames;
    // The smoothed round trip; 0 before it is known.
    uint64_t round_trip_nanos;
    // Its variation.
    uint64_t jitter_nanos;
    // The age of the peer's inputs.
    uint64_t input_age_nanos;
    // By how much they are older than the round trip explains.
    uint64_t input_excess_nanos;
    // The loss of our input packets, 0 to 1; -1 before it is known.
    float loss_out;
    // The loss of the peer's.
    float loss_in;
    // How many frames this machine is ahead.
    float frame_lead;
    // By how much the last frame was made longer.
    int32_t trim_micros;
    // Frames stepped, without those that were stepped again.
    uint64_t frames;
    // Frames that had to wait.
    uint64_t stalled_frames;
    // Rollbacks.
    uint64_t rollbacks;
    // Frames that were stepped again.
    uint64_t resimulated_frames;
    // Frames that were stepped again although they were right, by sparse saving.
    uint64_t replayed_frames;
    // Checksums compared with the peer's.
    uint64_t checksums_compared;
    // Cues that did not fit their frames.
    uint64_t cues_left_out;
    // Datagrams sent.
    uint64_t packets_out;
    // Bytes sent.
    uint64_t bytes_out;
    // Datagrams received.
    uint64_t packets_in;
    // Bytes received.
    uint64_t bytes_in;
    // The measured cost of a step; 0 before it is known, like the next three.
    uint64_t step_nanos;
    // Of a step in a rollback.
    uint64_t resimulated_step_nanos;
    // Of a save.
    uint64_t save_nanos;
    // Of a restore.
    uint64_t restore_nanos;
    // The number of rollbacks by depth.
    uint64_t depths[23];
    // Second copies of input packets, sent where packets are lost.
    uint64_t copies_out;
    // Datagrams that were refused, for whatever reason.
    uint64_t refused_in;
} rebout_stats;

// A callback for a line of the log: 1 error, 2 warning, 3 information, 4 debugging, 5 tracing. text lives until it returns.
typedef void (*rebout_log_callback)(void *user, uint32_t level, const char *text);

// The next thing to do. Set size to sizeof(rebout_turn). Fields that a kind does not name are 0.
typedef struct rebout_turn {
    // sizeof(rebout_turn).
    uint32_t size;
    // The next thing to do.
    rebout_now now;
    // Of REBOUT_NOW_EVENT.
    rebout_event event;
    // Of REBOUT_NOW_FINISHED.
    rebout_finish finish;
    // Of REBOUT_FINISH_PLAYED.
    rebout_verdict verdict;
    // Of REBOUT_FINISH_ENDED.
    rebout_reason reason;
    // A player: 0 for one, 1 for two. At REBOUT_NOW_BEGIN the seat of this machine.
    uint32_t seat;
    // The seed of the match that begins, equal on both machines.
    uint32_t seed;
    // A frame.
    uint32_t frame;
    // The frame up to which a mended match was stepped again.
    uint32_t to_frame;
    // Of REBOUT_VERDICT_AGREED: 1 if this machine came back and has the match from the other machine's log alone.
    uint32_t is_from_their_log;
    // A checksum here.
    uint32_t ours;
    // A checksum on the peer.
    uint32_t theirs;
    // An input delay.
    uint32_t delay_frames;
    // A window.
    uint32_t window_frames;
    // A rate, in thousandths of the agreed one.
    uint32_t rate_permille;
    // A point or a length of time.
    uint64_t time_nanos;
    // The confirmed and the refused input of a conflict.
    uint64_t inputs[2];
    // A text, never NULL. It lives until the next turn.
    const char *text;
    // The first state at REBOUT_NOW_BEGIN, or a message. They live until the next turn. NULL if there are none.
    const uint8_t *bytes;
    // How many.
    size_t byte_count;
} rebout_turn;

// A named region of a state, for reports: counters[0]: 397 / 402. This struct does not grow.
typedef struct rebout_region {
    // The name in reports, UTF-8.
    const char *name;
    // The first byte in the state.
    uint32_t offset;
    // Bytes of a number: 1, 2, 4 or 8. Numbers are in the byte order of the machine.
    uint32_t width;
    // 1 for a value; more for an array.
    uint32_t count;
    // REBOUT_REGION_*, added up.
    uint32_t flags;
    // The address of the first number, with REBOUT_REGION_ADDRESSED.
    uint32_t base;
    // 0.
    uint32_t reserved;
} rebout_region;

// A game: callbacks over a state of bytes. Set size to sizeof(rebout_game), and the rest to 0.
//
// The struct is copied; regions and their names are read once. user and state have to live as long as the match. All callbacks
// come in the thread that calls the library, and during that call.
typedef struct rebout_game {
    // sizeof(rebout_game).
    uint32_t size;
    // The bytes of a state, always as many: 1 to 67,108,864.
    uint32_t state_bytes;
    // The first argument of every callback.
    void *user;
    // The whole state, if it lies in one piece: the library then copies it, and save and load are NULL.
    void *state;
    // Writes the state into bytes, which are all 0 before. Returns 0 if it cannot be saved; the match is then over.
    int32_t (*save)(void *user, uint8_t *state, size_t bytes);
    // Sets the game to the state in bytes. Returns 0 if it cannot; the match is then over.
    int32_t (*load)(void *user, const uint8_t *state, size_t bytes);
    // Steps the game from frame f to f + 1 with the inputs of both players: a pure function of both. shown is 0 in a step whose
    // state nobody sees; the state must not depend on it. Sounds are asked for by rebout_emit.
    void (*step)(void *user, const uint64_t *inputs, struct rebout_step_cues *cues, int32_t shown);
    // Whether the match is over in this state. NULL: never.
    int32_t (*finished)(void *user);
    // Whether the next step must not be predicted: it loads a stage or writes to a disk. NULL: never.
    int32_t (*barrier)(void *user);
    // Called once when the library does not need the game any more. NULL: nothing to do.
    void (*release)(void *user);
    // The named regions of a state; the bytes that none of them names are compared too. NULL without any.
    const struct rebout_region *regions;
    // How many.
    size_t region_count;
} rebout_game;

// A change to a cue in the last frame. This struct does not grow.
typedef struct rebout_cue_event {
    // The start that the change belongs to. Every start is followed by one cancel or one confirm with the same id.
    uint32_t id;
    // The cue, as the step has asked for it.
    uint32_t cue;
    // The frame whose step has asked for it.
    uint32_t frame;
    // The change.
    rebout_change change;
    // Of a start: how many frames ago the cue should have begun.
    uint32_t late_by;
} rebout_cue_event;

// A frame that has become certain, and its inputs. This struct does not grow.
typedef struct rebout_frame_inputs {
    // The inputs of player one and player two.
    uint64_t inputs[2];
    // The frame.
    uint32_t frame;
    // 0.
    uint32_t reserved;
} rebout_frame_inputs;

// A recording. Set size to sizeof(rebout_replay_info). Texts and bytes live until the handle is closed.
typedef struct rebout_replay_info {
    // sizeof(rebout_replay_info).
    uint32_t size;
    // The version of the file, 1 or 2.
    uint32_t version;
    // The seed from which the game is built.
    uint32_t seed;
    // The number of frames.
    uint32_t frames;
    // The frame from which it is to be shown.
    uint32_t start_frame;
    // Frames a second; 0 and 0 if the file does not tell.
    uint32_t rate_numerator;
    // The denominator.
    uint32_t rate_denominator;
    // The axes of an input.
    uint32_t axes;
    // The pads at each machine.
    uint32_t pads;
    // 0 undecided, 1 player one, 2 player two, 3 a draw.
    uint32_t winner;
    // 1 if the file has its end; otherwise it was cut, damaged, or is still being written.
    uint32_t is_whole;
    // 0.
    uint32_t reserved;
    // The game.
    uint64_t game_id;
    // Its content.
    uint64_t content_hash;
    // Seconds since 1970; 0 if the file does not tell.
    uint64_t recorded_at_secs;
    // The name of player one.
    const char *name_one;
    // The name of player two.
    const char *name_two;
    // How the match ended, or how the file does.
    const char *outcome;
    // The first state, from which the game is built.
    const uint8_t *first_state;
    // How many bytes.
    size_t first_state_bytes;
} rebout_replay_info;

// The input of a player, 0 or 1, in a frame of a match with a seed: a function of its arguments.
typedef uint64_t (*rebout_press_callback)(void *user, uint32_t player, uint32_t frame, uint32_t seed);

// A sync test. Set size to sizeof(rebout_sync_test_plan), and the rest to 0: a number that is 0 has a default.
typedef struct rebout_sync_test_plan {
    // sizeof(rebout_sync_test_plan).
    uint32_t size;
    // Frames to play, by default 600.
    uint32_t frames;
    // The deepest rollback, by default 8, at most 128.
    uint32_t depth;
    // The seed of depths and random inputs, by default 1.
    uint32_t seed;
    // Axes of an input.
    uint32_t axes;
    // Pads at each machine, by default 1.
    uint32_t pads;
    // The inputs; NULL presses at random.
    rebout_press_callback press;
    // The first argument of press.
    void *user;
} rebout_sync_test_plan;

// Makes a game of a stress test: fills game, whose size is set, and returns 0 if it cannot. seat is 0, 1, or 2 for the oracle. Several
// games are alive at once, each with a state of its own; release frees it.
typedef int32_t (*rebout_make_callback)(void *user, uint32_t seed, uint32_t seat, struct rebout_game *game);

// A stress test. Set size to sizeof(rebout_stress_plan), and the rest to 0: a number that is 0 has a default.
typedef struct rebout_stress_plan {
    // sizeof(rebout_stress_plan).
    uint32_t size;
    // Axes of an input.
    uint32_t axes;
    // Frames to play, of all matches together; by default 60,000, one match on each of thirteen links. With link those of one match.
    uint64_t frames;
    // The seed of the run, by default 1.
    uint64_t seed;
    // Makes a game.
    rebout_make_callback make;
    // The inputs; NULL presses at random.
    rebout_press_callback press;
    // The first argument of both.
    void *user;
    // The name of the game in the report.
    const char *name;
    // Where the bundle of a failure is written; NULL writes none.
    const char *folder;
    // Plays one match again, as a report tells it: the name of its link.
    const char *link;
    // The impairments that the report leaves out, with commas in between.
    const char *without;
    // Pads at each machine, by default 1.
    uint32_t pads;
    // 0.
    uint32_t reserved;
} rebout_stress_plan;

// A match that is watched. Set size to sizeof(rebout_watch_info).
typedef struct rebout_watch_info {
    // sizeof(rebout_watch_info).
    uint32_t size;
    // What this spectator receives.
    rebout_watching watching;
    // What it sees.
    rebout_viewing viewing;
    // The number of the match, from 1 on; 0 before there is one.
    uint32_t match_number;
    // How many spectators the broadcast has.
    uint32_t spectators;
    // The frame that is shown.
    uint32_t frame;
    // The newest frame that has come.
    uint32_t newest_frame;
    // Recorded checksums that agree with the states here.
    uint32_t checksums_compared;
    // The age at which the host sends anything of the match.
    uint64_t delay_nanos;
    // Signatures that were wrong.
    uint64_t forged;
    // The match so far, as the file that its host records. It lives until the next turn. NULL if there is none.
    const uint8_t *recording;
    // How many bytes.
    size_t recording_bytes;
} rebout_watch_info;

// Those who watch this machine. Set size to sizeof(rebout_audience).
typedef struct rebout_audience {
    // sizeof(rebout_audience).
    uint32_t size;
    // How many watch now.
    uint32_t spectators;
    // 1 if every one of them has received everything of a match that is over. With a delay keep calling rebout_wait until then.
    uint32_t have_all;
    // 0.
    uint32_t reserved;
    // Spectators that were let in.
    uint64_t joined;
    // Spectators that were sent away because of their behaviour.
    uint64_t evicted;
    // Datagrams of spectators that were dropped.
    uint64_t refused;
    // Datagrams sent.
    uint64_t packets_out;
    // Bytes sent.
    uint64_t bytes_out;
} rebout_audience;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Hosts a match on UDP. rebout_share is then the text for the other player.
rebout_status rebout_host(struct rebout *handle, const struct rebout_options *options);

// Joins a match on UDP. text is the host's invite, its offer, or its address.
rebout_status rebout_join(struct rebout *handle, const struct rebout_options *options, const char *text);

// Hosts a match on a transport of the caller's, encrypted unless the options say that the transport does it.
rebout_status rebout_host_on(struct rebout *handle,
                             const struct rebout_options *options,
                             const struct rebout_transport *transport);

// Joins a match on a transport of the caller's.
rebout_status rebout_join_on(struct rebout *handle,
                             const struct rebout_options *options,
                             const struct rebout_transport *transport,
                             const char *text);

// Comes back into a match on UDP, after the program ended in the middle of it. file is what rebout_unfinished found, and the options
// are those of that program. Build the game at REBOUT_NOW_BEGIN as always; rebout_advance then steps it through the match so far, and
// the match goes on after a countdown.
rebout_status rebout_rejoin(struct rebout *handle,
                            const struct rebout_options *options,
                            const char *file);

// Comes back into a match on a transport of the caller's.
rebout_status rebout_rejoin_on(struct rebout *handle,
                               const struct rebout_options *options,
                               const struct rebout_transport *transport,
                               const char *file);

// Finds the newest match in a folder of options.rejoin_in that was not played to its end, if it began in the last hour. file becomes
// empty if there is none. It lives until the next call of this function.
rebout_status rebout_unfinished(struct rebout *handle,
                                const char *folder,
                                const char **file);

// Plays at this machine, with both inputs from the caller. The turns are those of an online match. Of the options the game, the seed, the
// first state, the look-ahead, the name and record_to count.
rebout_status rebout_offline(struct rebout *handle,
                             const struct rebout_options *options);

// Decides about the guest of REBOUT_NOW_GUEST: 1 takes it, 0 sends it away.
rebout_status rebout_answer(struct rebout *handle, int32_t accepts);

// Takes the answer of the other player to the offer of this host.
rebout_status rebout_take_answer(struct rebout *handle, const char *text);

// The player says that both machines show the same code.
rebout_status rebout_verify(struct rebout *handle);

// Makes one more invite to play, for a single guest: it is revoked once that one is connected. A host has at most 16 invites at once. The
// text lives until the next call of this function.
rebout_status rebout_invite_one(struct rebout *handle,
                                const char **text);

// Revokes an invite of this host, to play or to watch. Connected guests stay.
rebout_status rebout_revoke(struct rebout *handle, const char *text);

// Replaces the socket of a match on UDP by a new one, for a machine that has changed networks. address has a port, which may be 0.
rebout_status rebout_rebind(struct rebout *handle,
                            const char *address);

// Fills options with their defaults. size is sizeof(rebout_options).
rebout_status rebout_options_init(struct rebout_options *options, size_t size);

// The text for the other player, who passes it to rebout_join: the invite, the offer or the address of a host, or the answer of a
// joiner to an offer. It is empty while it waits for a server. It lives until the next call of this function.
//
// Show an invite to nobody else: it is the right to join.
rebout_status rebout_share(struct rebout *handle,
                           const char **text);

// How far the match is on the way, as a text for the player. It lives until the next call of this function.
rebout_status rebout_progress(struct rebout *handle, const char **text);

// The name of a player, 0 or 1, with control characters escaped. It lives until the next call of this function.
rebout_status rebout_name(struct rebout *handle, uint32_t seat, const char **text);

// The file that the match is recorded to, or the last match was. It lives until the next call of this function.
rebout_status rebout_recording(struct rebout *handle, const char **text);

// The facts about the other machine.
rebout_status rebout_peer(struct rebout *handle, struct rebout_peer_info *peer);

// The public key of a player, 32 bytes, by which the player is known again: with of_peer 1 that of the other player, with 0 that of
// the player here. fingerprint is a short text of it for people to compare, and lives until the next call of this function. Either
// pointer may be NULL. REBOUT_STATUS_PHASE while the key is not proven, and if there is none.
rebout_status rebout_player_key(struct rebout *handle,
                                uint32_t of_peer,
                                uint8_t *key,
                                const char **fingerprint);

// The terms of the match, once both machines have agreed.
rebout_status rebout_agreed(struct rebout *handle, struct rebout_terms *terms);

// The figures of the match so far. They stay after its end, until a rematch.
rebout_status rebout_get_stats(struct rebout *handle, struct rebout_stats *stats);

// The frame that the game is in, and the frame up to which every state is certain. Either pointer may be NULL.
rebout_status rebout_frames(struct rebout *handle, uint32_t *current, uint32_t *settled);

// When the next frame is due, on the clock of the match: for an engine that sleeps by itself. UINT64_MAX while none will be.
rebout_status rebout_next_frame_at(struct rebout *handle,
                                   uint64_t *at_nanos);

// Copies the state before the present one into state, and says how far the time from the last frame to the next has gone, from 0 to 1: for
// a display that is faster than the match.
rebout_status rebout_previous(struct rebout *handle,
                              uint8_t *state,
                              size_t capacity,
                              float *phase);

// Asks for a cue, such as a sound or a flash, in a step: rebout_cues tells when it starts, is cancelled or is certain.
//
// cues is that of the step which runs in this thread; a pointer that was kept from another step gets REBOUT_STATUS_PHASE.
rebout_status rebout_emit(struct rebout_step_cues *cues,
                          uint32_t cue);

// Marks the end of a phase of the step. A report about a desync then names the first phase after which the machines differ.
//
// It costs a comparison, unless a report looks at this step: save is then called in the middle of it.
rebout_status rebout_phase(struct rebout_step_cues *cues,
                           const char *name);

// Makes a handle, without a match. NULL only if there is no memory.
//
// Free it with rebout_free.
struct rebout *rebout_new(void);

// Frees a handle and sets the caller's pointer to NULL, so that a second call does nothing. Everything that it has lent ends with it.
//
// A match that runs is left without a word: call rebout_close before. A handle that is in use is not freed, and the answer is
// REBOUT_STATUS_BUSY.
rebout_status rebout_free(struct rebout **handle);

// The text of the last failure on this handle, in English. Empty if there was none.
//
// It lives until the next call on this handle fails. Never NULL.
const char *rebout_error(const struct rebout *handle);

// A short text about a status. Never NULL; it lives for ever.
const char *rebout_status_text(int32_t status);

// Tells a callback of what happens inside: refused datagrams, handshakes, stalls, rollbacks, paths. It is one for the whole process;
// NULL ends it.
//
// max_level is the least important level that is told: 1 error, 2 warning, 3 information, 4 debugging, 5 tracing. The callback may be
// called from any thread, and must not call the library. A program that has a tracing subscriber of its own gets
// REBOUT_STATUS_FAILED.
rebout_status rebout_set_log(rebout_log_callback callback,
                             void *user,
                             uint32_t max_level);

// Says what time it is, in nanoseconds on any clock that never runs backwards. Call it before every turn of a match on a transport without
// callbacks. A match at one machine takes it too, and then has no clock of its own.
rebout_status rebout_set_time(struct rebout *handle,
                              uint64_t nanos);

// Hands over a datagram that has come from the peer with this id. rebout_poll looks at it. Call it as often as there are datagrams;
// 256 wait at most, and more get REBOUT_STATUS_FULL.
rebout_status rebout_deliver(struct rebout *handle,
                             uint64_t from,
                             const uint8_t *bytes,
                             size_t count);

// Takes the next datagram to send into bytes, which hold capacity; 1,264 are always enough. count becomes its length, and 0 if there
// is none. Call it after every turn and every frame, until there is none.
rebout_status rebout_take(struct rebout *handle,
                          uint64_t *to,
                          uint8_t *bytes,
                          size_t capacity,
                          size_t *count);

// Sends and receives what is ready, and says what there is to do. It never blocks.
//
// Call it until it says REBOUT_NOW_IDLE, CONNECTING, GUEST or FINISHED; then draw.
rebout_status rebout_poll(struct rebout *handle, struct rebout_turn *turn);

// Sends and receives until there is something to do, and says what. Without a match that runs it returns at least every 16 ms.
rebout_status rebout_wait(struct rebout *handle,
                          struct rebout_turn *turn);

// Begins the match after REBOUT_NOW_BEGIN. The game is in its first state, built from the seed. The library calls its callbacks until
// the match is closed, another one is started, or the handle is freed; it then calls release, if it has one. A game that was not taken
// is not released.
rebout_status rebout_start(struct rebout *handle,
                           const struct rebout_game *game);

// Plays the frame that is due after REBOUT_NOW_FRAME: rolls back, steps, sends, records. input is the local player's input now, 64 bits as
// the helpers of the header make them. advanced may be NULL. Offline player two presses nothing, and in a match that is watched nobody
// does.
//
// rebout_cues and rebout_confirmed have what this frame brought.
rebout_status rebout_advance(struct rebout *handle,
                             uint64_t input,
                             rebout_advanced *advanced);

// Plays the frame that is due in a match at one machine, with the inputs of both players.
rebout_status rebout_advance_both(struct rebout *handle,
                                  uint64_t input_one,
                                  uint64_t input_two,
                                  rebout_advanced *advanced);

// Steps the game look_ahead_frames ahead of the match, calls draw, and puts the game back. Call it once after each frame.
rebout_status rebout_look_ahead(struct rebout *handle,
                                void (*draw)(void *user),
                                void *user);

// The changes to cues in the last frame. They live until the next frame.
rebout_status rebout_cues(struct rebout *handle, const struct rebout_cue_event **cues, size_t *count);

// The frames that became certain in the last frame, with their inputs. They live until the next frame.
rebout_status rebout_confirmed(struct rebout *handle, const struct rebout_frame_inputs **frames, size_t *count);

// Sends a message of the game's own, at most 1,024 bytes, delivered once and in order.
rebout_status rebout_send(struct rebout *handle, const uint8_t *bytes, size_t count);

// Asks to pause the match: REBOUT_EVENT_PAUSED follows. At one machine, and in a match that is watched, it pauses at once.
rebout_status rebout_pause(struct rebout *handle);

// Ends the pause, after a countdown. A match that is watched goes on at once.
rebout_status rebout_resume(struct rebout *handle);

// Changes the input delay of this machine.
rebout_status rebout_set_delay(struct rebout *handle, uint32_t delay_frames);

// Says who has won, for the recording: 0 undecided, 1 player one, 2 player two, 3 a draw.
rebout_status rebout_set_winner(struct rebout *handle, uint32_t winner);

// Leaves the match, or the lobby. REBOUT_NOW_FINISHED follows when the other side knows.
rebout_status rebout_leave(struct rebout *handle);

// Asks for another match with the same player, after REBOUT_NOW_FINISHED. Both have to ask. A spectator waits for the next match.
rebout_status rebout_rematch(struct rebout *handle);

// Leaves, waits until the last messages are through, at most two and a half seconds, and makes the handle empty. What it has lent ends,
// but for the report of a test. It may host or join again. On an empty handle it does nothing.
rebout_status rebout_close(struct rebout *handle);

// Opens a recording on an empty handle: a file of RPLK version 1 or 2, also one that was cut.
rebout_status rebout_replay_open(struct rebout *handle, const char *path);

// The facts about the recording.
rebout_status rebout_replay_get_info(struct rebout *handle, struct rebout_replay_info *info);

// Copies the inputs of count frames from first on: two for each frame, player one's first. copied becomes the number of frames,
// which is less at the end.
rebout_status rebout_replay_inputs(struct rebout *handle,
                                   uint32_t first,
                                   uint64_t *inputs,
                                   size_t count,
                                   size_t *copied);

// Plays the whole recording and compares its states with the recorded checksums. compared becomes their number. The game is in its
// first state before, and in the last one after. It is not kept, and not released.
rebout_status rebout_replay_verify(struct rebout *handle,
                                   const struct rebout_game *game,
                                   uint32_t *compared);

// Watches the recording from its start frame on, paused. The game is in its first state, built from the seed and the first state of the
// recording, and is kept as in rebout_start.
rebout_status rebout_replay_start(struct rebout *handle,
                                  const struct rebout_game *game);

// Loads up to steps more frames, so that every seek is short, and compares their checksums. loaded becomes the frame up to which all is
// loaded. A checksum that differs is REBOUT_STATUS_FAILED, and rebout_error names its frame.
rebout_status rebout_replay_load(struct rebout *handle,
                                 uint32_t steps,
                                 uint32_t *loaded);

// Sets the game to the state of frame, or to the last one. A match that is watched then goes on from there at normal speed;
// UINT32_MAX follows its newest frames again.
rebout_status rebout_replay_seek(struct rebout *handle,
                                 uint32_t frame);

// Steps a frame. is_stepped becomes 0 at the end. rebout_cues has its cues.
rebout_status rebout_replay_step(struct rebout *handle, int32_t *is_stepped);

// Plays on at speed_permille thousandths of the recorded rate, by the caller's clock; 0 pauses.
rebout_status rebout_replay_play(struct rebout *handle, uint64_t now_nanos, uint32_t speed_permille);

// Steps the frames that are due at now_nanos, at most four for each 1,000 of the speed; stepped becomes their number, and may be NULL.
// rebout_cues has the cues of all of them.
rebout_status rebout_replay_advance(struct rebout *handle,
                                    uint64_t now_nanos,
                                    uint32_t *stepped);

// Finds on one machine the mistakes that a rollback would turn into a desync: in every frame it goes back up to depth frames, steps
// forward again and compares all bytes. plan may be NULL.
//
// REBOUT_STATUS_FAILED is a mistake, or a run that proves nothing; rebout_error names the frame and the regions. rebout_report
// has the figures. The game is not kept, and not released; it is in any state afterwards. The handle may have a match.
rebout_status rebout_sync_test(struct rebout *handle,
                               const struct rebout_game *game,
                               const struct rebout_sync_test_plan *plan);

// Hunts desyncs in a game: many matches of two machines over simulated links, and an oracle that knows every true state. A failure is played
// again and made as short as it still happens.
//
// REBOUT_STATUS_FAILED is a failure, or a run that proves nothing. rebout_report has the table and the failure either way.
rebout_status rebout_stress(struct rebout *handle,
                            const struct rebout_stress_plan *plan);

// The report of the last sync test or stress test on this handle. It lives until the next test.
rebout_status rebout_report(struct rebout *handle, const char **text);

// The version of the library: major times 1,000,000, minor times 1,000, and patch.
//
// A library serves every program that was compiled with a header of the same major version and of its own minor version or an older one;
// before 1.0 the minor version has to be equal too.
uint32_t rebout_version(void);

// The version of the library as a text. It lives for ever.
const char *rebout_version_text(void);

// The fraction that a number of frames a second stands for, such as libretro's timing.fps: 60.0988 is 39375000 / 655171.
rebout_status rebout_rate(double hz,
                          uint32_t *numerator,
                          uint32_t *denominator);

// A stick as two axes: its position from -32,768 to 32,767, with a dead zone and steps steps from the centre to the edge. The low byte is
// the first axis, the high byte the second: shift it by 16 bits plus 8 for each axis before it, into an input.
uint16_t rebout_stick(int16_t x,
                      int16_t y,
                      uint8_t steps);

// Watches a match of others on UDP, by their invite to watch. The turns are those of a match: build the game at REBOUT_NOW_BEGIN and call
// rebout_start, which keeps it; at REBOUT_NOW_FRAME call rebout_advance, which shows the frames that are due. rebout_pause,
// rebout_resume and rebout_replay_seek move in the match. Every byte is signed by the host, and every recorded checksum is compared.
//
// Of the options those of the connection count.
rebout_status rebout_watch(struct rebout *handle,
                           const struct rebout_options *options,
                           const char *text);

// Watches a match of others on a transport of the caller's.
rebout_status rebout_watch_on(struct rebout *handle,
                              const struct rebout_options *options,
                              const struct rebout_transport *transport,
                              const char *text);

// Serves the match that is watched on UDP to others: rebout_share_to_watch is then their invite. Of the options those of a host's
// connection and of spectators count.
rebout_status rebout_watch_serve(struct rebout *handle,
                                 const struct rebout_options *options);

// Asks another machine for the match that is watched on UDP, by its invite to watch, and goes on where the last one ended.
rebout_status rebout_watch_another(struct rebout *handle,
                                   const struct rebout_options *options,
                                   const char *text);

// The facts about the match that is watched.
rebout_status rebout_watch_get_info(struct rebout *handle, struct rebout_watch_info *info);

// The text for spectators, who pass it to rebout_watch and can watch with it, not play. A host by invite has one with
// options.max_spectators, and a spectator after rebout_watch_serve. It lives until the next call of this function.
rebout_status rebout_share_to_watch(struct rebout *handle, const char **text);

// The counters of those who watch this machine.
rebout_status rebout_get_audience(struct rebout *handle, struct rebout_audience *audience);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* REBOUT_H */
