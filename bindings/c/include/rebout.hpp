// rebout for C++17: a match that closes itself, and failures as exceptions. docs/C.md explains the interface.
#ifndef REBOUT_HPP
#define REBOUT_HPP

#include <cstring>
#include <rebout.h>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace rebout_cpp {

// A call that failed.
class error : public std::runtime_error {
public:
    error(rebout_status status, const char *text) : std::runtime_error(text), status_(status) {}
    rebout_status status() const noexcept { return status_; }

private:
    rebout_status status_;
};

// A struct of the interface with its size set and everything else 0.
template <class T> T sized() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    std::memset(&value, 0, sizeof value);
    value.size = static_cast<uint32_t>(sizeof value);
    return value;
}

// Options with their defaults.
inline rebout_options options(uint64_t game_id, uint64_t content_hash) {
    rebout_options value;
    rebout_options_init(&value, sizeof value);
    value.game_id = game_id;
    value.content_hash = content_hash;
    return value;
}

// The game table of a class with a state in one piece. `Game` has `state()`, which returns a reference to a trivially copyable value,
// `step(const uint64_t *inputs, rebout_step_cues *cues, bool shown)` and `finished()`. An exception must not leave any of them.
template <class Game> rebout_game table(Game &game) {
    using State = std::remove_reference_t<decltype(game.state())>;
    static_assert(std::is_trivially_copyable_v<State>, "a state in one piece is copied byte by byte");
    static_assert(noexcept(game.finished()), "finished() must be noexcept");
    rebout_game value = sized<rebout_game>();
    value.state_bytes = static_cast<uint32_t>(sizeof(State));
    value.user = &game;
    value.state = &game.state();
    value.step = [](void *user, const uint64_t *inputs, rebout_step_cues *cues, int32_t shown) {
        static_assert(noexcept(std::declval<Game &>().step(inputs, cues, true)), "step() must be noexcept");
        static_cast<Game *>(user)->step(inputs, cues, shown != 0);
    };
    value.finished = [](void *user) -> int32_t { return static_cast<Game *>(user)->finished() ? 1 : 0; };
    return value;
}

// A handle. It is closed and freed at its end: a match that runs is left, and the other player is told.
class match {
public:
    match() : handle_(rebout_new()) {}
    match(match &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    match &operator=(match &&other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    match(const match &) = delete;
    match &operator=(const match &) = delete;
    ~match() {
        if (handle_ != nullptr) {
            rebout_close(handle_);
            rebout_free(&handle_);
        }
    }

    // The handle, for every function that is not repeated here.
    rebout *get() const noexcept { return handle_; }

    // Gives up the handle, which the caller frees. This match cannot be used any more.
    rebout *release() noexcept { return std::exchange(handle_, nullptr); }

    // Throws if a call on this handle has failed: m.check(rebout_pause(m.get())).
    void check(rebout_status status) const {
        if (status != REBOUT_STATUS_OK) {
            const char *text = rebout_error(handle_);
            throw error(status, *text != 0 ? text : rebout_status_text(status));
        }
    }

    void host(const rebout_options &options) { check(rebout_host(handle_, &options)); }
    void join(const rebout_options &options, const std::string &text) { check(rebout_join(handle_, &options, text.c_str())); }
    void offline(const rebout_options &options) { check(rebout_offline(handle_, &options)); }
    void watch(const rebout_options &options, const std::string &text) { check(rebout_watch(handle_, &options, text.c_str())); }
    void rejoin(const rebout_options &options, const std::string &file) { check(rebout_rejoin(handle_, &options, file.c_str())); }
    void start(const rebout_game &game) { check(rebout_start(handle_, &game)); }

    rebout_turn wait() { return filled(rebout_wait); }
    rebout_turn poll() { return filled(rebout_poll); }

    rebout_advanced advance(uint64_t input) {
        rebout_advanced advanced{};
        check(rebout_advance(handle_, input, &advanced));
        return advanced;
    }
    rebout_advanced advance(uint64_t one, uint64_t two) {
        rebout_advanced advanced{};
        check(rebout_advance_both(handle_, one, two, &advanced));
        return advanced;
    }

    std::string share() const { return text(rebout_share); }
    std::string share_to_watch() const { return text(rebout_share_to_watch); }
    // The file of a match that was cut off, for rejoin(); empty if there is none.
    std::string unfinished(const std::string &folder) const {
        const char *file = nullptr;
        check(rebout_unfinished(handle_, folder.c_str(), &file));
        return file;
    }
    void send(const std::string &bytes) {
        check(rebout_send(handle_, reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()));
    }
    rebout_stats stats() const { return filled(rebout_get_stats); }
    // The match that is watched, and those who watch this machine.
    rebout_watch_info watch_info() const { return filled(rebout_watch_get_info); }
    rebout_audience audience() const { return filled(rebout_get_audience); }

private:
    template <class T> T filled(rebout_status (*call)(rebout *, T *)) const {
        T value = sized<T>();
        check(call(handle_, &value));
        return value;
    }
    std::string text(rebout_status (*call)(rebout *, const char **)) const {
        const char *value = nullptr;
        check(call(handle_, &value));
        return value;
    }

    rebout *handle_;
};

} // namespace rebout_cpp

#endif
