// The C++ wrapper: a match at one machine, and a failure as an exception.
#include <cstdio>
#include <rebout.hpp>

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
    bool finished() const noexcept { return world_.at[0] >= 60 || world_.at[1] >= 60; }

private:
    World world_;
};

int main() {
    rebout_cpp::match match;
    try {
        match.join(rebout_cpp::options(7, 1), "no invite");
    } catch (const rebout_cpp::error &error) {
        std::printf("%s\n", error.what());
    }
    Race race;
    match.offline(rebout_cpp::options(7, 1));
    for (;;) {
        rebout_turn turn = match.wait();
        if (turn.now == REBOUT_NOW_BEGIN) {
            match.start(rebout_cpp::table(race));
        } else if (turn.now == REBOUT_NOW_FRAME) {
            match.advance(1, race.state().frame % 2);
        } else if (turn.now == REBOUT_NOW_FINISHED) {
            std::printf("%s %u to %u in frame %u\n", turn.text, race.state().at[0], race.state().at[1], turn.frame);
            return 0;
        }
    }
}
