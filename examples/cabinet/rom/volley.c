/* Volley: a game for two on the NES. Each player has a paddle; up and down move it, A makes it fast, and B holds a ball that
 * touches it until B is let go. A ball that passes a paddle is a point for the other side, nine points win, and START begins again.
 *
 * Built by `cl65 -t nes -Oirs volley.c -o volley.nes`.
 */

#include <conio.h>
#include <joystick.h>
#include <nes.h>

#define LEFT_WALL 1
#define RIGHT_WALL 30
#define TOP 3
#define BOTTOM 26
#define PADDLE 4
#define POINTS 9

#define APU_PULSE ((volatile unsigned char*)0x4000)
#define APU_STATUS (*(volatile unsigned char*)0x4015)

typedef struct {
    unsigned char column;
    unsigned char top;
    unsigned char points;
    unsigned char held;
    unsigned char wait;
    unsigned char is_holding;
} Side;

static Side sides[2];
static unsigned char ball_x, ball_y, ball_wait, ball_pace, rally;
static signed char ball_dx, ball_dy;
static unsigned int noise;
static unsigned char over;

static unsigned char draw(void) {
    noise = noise * 5u + 0x3131u;
    return (unsigned char)(noise >> 8);
}

static void beep(unsigned char pitch) {
    APU_STATUS = 0x01;
    APU_PULSE[0] = 0x86;
    APU_PULSE[1] = 0x00;
    APU_PULSE[2] = pitch;
    APU_PULSE[3] = 0x08;
}

static void paint_paddle(const Side* side) {
    unsigned char row;
    for (row = TOP; row <= BOTTOM; ++row) {
        unsigned char is_paddle = row >= side->top && row < side->top + PADDLE;
        cputcxy(side->column, row, is_paddle ? '#' : ' ');
    }
}

static void paint_points(void) {
    cputcxy(10, 1, (char)('0' + sides[0].points));
    cputcxy(21, 1, (char)('0' + sides[1].points));
}

static void serve(unsigned char to) {
    cputcxy(ball_x, ball_y, ' ');
    ball_x = 15;
    ball_y = (unsigned char)(TOP + 4 + (draw() & 15));
    ball_dx = to ? 1 : -1;
    ball_dy = (draw() & 1) ? 1 : -1;
    ball_pace = 4;
    rally = 0;
}

static void begin(void) {
    unsigned char side;
    clrscr();
    cputsxy(4, 1, "ONE");
    cputsxy(25, 1, "TWO");
    for (side = 0; side < 2; ++side) {
        sides[side].column = side ? RIGHT_WALL : LEFT_WALL;
        sides[side].top = 12;
        sides[side].points = 0;
        sides[side].is_holding = 0;
        paint_paddle(&sides[side]);
    }
    over = 0;
    paint_points();
    serve(draw() & 1);
}

static void move_paddle(Side* side) {
    unsigned char held = side->held, top = side->top;
    if (side->wait) {
        --side->wait;
        return;
    }
    if (JOY_UP(held) && top > TOP) {
        --side->top;
        cputcxy(side->column, side->top, '#');
        cputcxy(side->column, (unsigned char)(top + PADDLE - 1), ' ');
    } else if (JOY_DOWN(held) && top + PADDLE <= BOTTOM) {
        ++side->top;
        cputcxy(side->column, top, ' ');
        cputcxy(side->column, (unsigned char)(top + PADDLE), '#');
    }
    side->wait = JOY_BTN_1(held) ? 0 : 1;
}

/* The ball at a side: it is returned, held, or a point for the other. */
static void meet(unsigned char index) {
    Side* side = &sides[index];
    if (ball_y >= side->top && ball_y < side->top + PADDLE) {
        if (JOY_BTN_2(side->held) && rally < 8) {
            side->is_holding = 1;
            return;
        }
        ball_dx = index ? -1 : 1;
        if (ball_y == side->top) ball_dy = -1;
        if (ball_y == side->top + PADDLE - 1) ball_dy = 1;
        if (++rally % 4 == 0 && ball_pace > 1) --ball_pace;
        beep(0x60);
    } else {
        Side* other = &sides[index ^ 1];
        ++other->points;
        paint_points();
        beep(0xF0);
        if (other->points >= POINTS) {
            over = 1;
            cputsxy(11, 14, index ? "ONE WINS" : "TWO WINS");
        } else {
            serve(index);
        }
    }
}

static void move_ball(void) {
    unsigned char side;
    for (side = 0; side < 2; ++side) {
        if (sides[side].is_holding) {
            ball_y = (unsigned char)(sides[side].top + 1);
            if (JOY_BTN_2(sides[side].held)) return;
            sides[side].is_holding = 0;
            ball_dx = side ? -1 : 1;
            ++rally;
        }
    }
    if (ball_wait) {
        --ball_wait;
        return;
    }
    ball_wait = ball_pace;
    cputcxy(ball_x, ball_y, ' ');
    if (ball_y + ball_dy < TOP || ball_y + ball_dy > BOTTOM) {
        ball_dy = (signed char)-ball_dy;
        beep(0x90);
    }
    ball_y = (unsigned char)(ball_y + ball_dy);
    ball_x = (unsigned char)(ball_x + ball_dx);
    if (ball_x <= LEFT_WALL + 1) meet(0);
    else if (ball_x >= RIGHT_WALL - 1) meet(1);
    if (!over) cputcxy(ball_x, ball_y, 'O');
}

void main(void) {
    joy_install(joy_static_stddrv);
    noise = 0x2A;
    begin();
    for (;;) {
        waitvsync();
        sides[0].held = joy_read(JOY_1);
        sides[1].held = joy_read(JOY_2);
        noise += (unsigned int)(sides[0].held ^ (sides[1].held << 1));
        if (over) {
            if (JOY_START(sides[0].held) || JOY_START(sides[1].held)) begin();
            continue;
        }
        move_paddle(&sides[0]);
        move_paddle(&sides[1]);
        move_ball();
    }
}
