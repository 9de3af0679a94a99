// The C++ wrapper: a host, a guest and a spectator in one program. In the middle of the match the guest is gone without a word, as after
// a crash, and comes back into it. The argument is a folder for the file by which it does.
#include <chrono>
#include <cstdio>
#include <rebout.hpp>
#include <thread>

#ifndef FRAMES
#define FRAMES 600
#endif

struct World {
    uint32_t frame = 0;
    uint32_t at[2] = {0, 0};
};

class Race {
public:
    World &state() noexcept { return world_; }
    void step(const uint64_t *inputs, rebout_step_cues *, bool) noexcept {
        world_.frame++;
        for (int player = 0; player < 2; player++)
            world_.at[player] += rebout_pad(inputs[player], 0) & 1u;
    }
    bool finished() const noexcept { return world_.frame >= FRAMES; }

private:
    World world_;
};

struct Machine {
    Race race;
    bool is_over = false;
    uint32_t frame = 0;
    uint32_t checksum = 0;
    rebout_cpp::match match; // the last member: closed before the game is gone

    void turns() {
        for (;;) {
            const rebout_turn turn = match.poll();
            switch (turn.now) {
            case REBOUT_NOW_BEGIN:
                race = Race();
                match.start(rebout_cpp::table(race));
                break;
            case REBOUT_NOW_FRAME:
                match.advance(race.state().frame / 7 % 2);
                break;
            case REBOUT_NOW_FINISHED:
                if (!is_over)
                    std::printf("%s\n", turn.text);
                is_over = true;
                frame = turn.frame;
                checksum = turn.ours;
                return;
            case REBOUT_NOW_IDLE:
            case REBOUT_NOW_CONNECTING:
            case REBOUT_NOW_GUEST:
                return;
            default:
                break;
            }
        }
    }
};

static int play(const std::string &folder) {
    rebout_options options = rebout_cpp::options(7, 1);
    options.rejoin_in = folder.c_str();
    options.bind = "127.0.0.1:0";
    options.port_mapping = 0;
    options.countdown_ms = 300;
    options.max_spectators = 4; // one that asks twice has two places for a while
    Machine host, guest, spectator;
    host.match.host(options);
    spectator.match.watch(options, host.match.share_to_watch());
    options.max_spectators = 0;
    const std::string guests = folder + "/guest";
    options.rejoin_in = guests.c_str();
    guest.match.join(options, host.match.share());
    bool is_back = false;
    while (!host.is_over || !guest.is_over || !spectator.is_over) {
        for (Machine *machine : {&host, &guest, &spectator})
            machine->turns();
        if (!is_back && guest.race.state().frame > FRAMES / 2) {
            rebout *gone = guest.match.release();
            rebout_free(&gone);
            guest.match = rebout_cpp::match();
            guest.race = Race();
            guest.match.rejoin(options, guest.match.unfinished(guests));
            is_back = true;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    const rebout_watch_info seen = spectator.match.watch_info();
    std::printf("frame %u, %08X; spectator: frame %u, %u checksums; %u watched\n", guest.frame, guest.checksum, seen.frame,
                seen.checksums_compared, host.match.audience().spectators);
    const bool agrees = host.checksum == guest.checksum && host.checksum == spectator.checksum && is_back;
    return agrees && guest.match.unfinished(guests).empty() ? 0 : 1;
}

int main(int count, char **arguments) {
    if (count != 2) {
        std::fprintf(stderr, "usage: rejoin FOLDER\n");
        return 2;
    }
    try {
        return play(arguments[1]);
    } catch (const rebout_cpp::error &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
