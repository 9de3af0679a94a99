//! A program for the Game Boy, assembled here: it reads the pad in each frame, adds it up in memory, and shows and plays the sum.

/// Where the program lies, after the header of a cartridge.
const START: usize = 0x150;

/// The program. Jumps are relative, and their distances are counted from the next instruction.
const PROGRAM: &[u8] = &[
    0xF3, //             di
    0x31, 0xFE, 0xDF, // ld sp, $DFFE
    0xAF, //             xor a
    0x21, 0x00, 0xC0, // ld hl, $C000
    0x06, 0x20, //       ld b, 32
    0x22, //             clear: ld [hl+], a
    0x05, //             dec b
    0x20, 0xFC, //       jr nz, clear
    0x3E, 0x80, //       ld a, $80
    0xE0, 0x26, //       ldh [NR52], a      ; sound on
    0x3E, 0xF3, //       ld a, $F3
    0xE0, 0x12, //       ldh [NR12], a
    0x3E, 0x77, //       ld a, $77
    0xE0, 0x24, //       ldh [NR50], a
    0x3E, 0xFF, //       ld a, $FF
    0xE0, 0x25, //       ldh [NR51], a
    0xF0, 0x44, //       frame: ldh a, [LY]
    0xFE, 0x90, //       cp 144
    0x20, 0xFA, //       jr nz, frame        ; until the picture is drawn
    0x3E, 0x20, //       ld a, $20
    0xE0, 0x00, //       ldh [P1], a         ; the directions
    0xF0, 0x00, //       ldh a, [P1]
    0xF0, 0x00, //       ldh a, [P1]
    0x2F, //             cpl
    0xE6, 0x0F, //       and $0F
    0xCB, 0x37, //       swap a
    0x47, //             ld b, a
    0x3E, 0x10, //       ld a, $10
    0xE0, 0x00, //       ldh [P1], a         ; the buttons
    0xF0, 0x00, //       ldh a, [P1]
    0xF0, 0x00, //       ldh a, [P1]
    0x2F, //             cpl
    0xE6, 0x0F, //       and $0F
    0xB0, //             or b
    0x21, 0x00, 0xC0, // ld hl, $C000
    0x77, //             ld [hl], a          ; what is held
    0x23, //             inc hl
    0x86, //             add a, [hl]
    0x22, //             ld [hl+], a         ; the sum
    0x07, //             rlca
    0xAE, //             xor [hl]
    0x22, //             ld [hl+], a         ; a mix that depends on every press
    0x34, //             inc [hl]            ; frames
    0xE0, 0x47, //       ldh [BGP], a        ; the mix as colours
    0xE0, 0x13, //       ldh [NR13], a       ; and as a tone
    0x3E, 0x86, //       ld a, $86
    0xE0, 0x14, //       ldh [NR14], a
    0xF0, 0x44, //       drawn: ldh a, [LY]
    0xFE, 0x90, //       cp 144
    0x28, 0xFA, //       jr z, drawn
    0x18, 0xC5, //       jr frame
];

/// The cartridge: 32 KiB without a mapper. It has no logo, which a console would ask for and a core does not.
pub(crate) fn rom() -> Vec<u8> {
    let mut rom = vec![0; 32 << 10];
    rom[0x100..0x104].copy_from_slice(&[0x00, 0xC3, START as u8, (START >> 8) as u8]); // nop, jp START
    rom[0x134..0x13F].copy_from_slice(b"REBOUT PADS");
    rom[0x14D] = rom[0x134..0x14D].iter().fold(0_u8, |sum, byte| sum.wrapping_sub(*byte).wrapping_sub(1));
    rom[START..START + PROGRAM.len()].copy_from_slice(PROGRAM);
    rom
}

#[test]
fn jumps_of_the_program_lead_to_their_labels() {
    let find = |pattern: &[u8]| PROGRAM.windows(pattern.len()).position(|part| part == pattern).unwrap();
    let target = |at: usize| (at as isize + 2 + isize::from(PROGRAM[at + 1] as i8)) as usize;
    assert_eq!(target(find(&[0x20, 0xFC])), find(&[0x22, 0x05]), "clear");
    assert_eq!(target(find(&[0x20, 0xFA])), find(&[0xF0, 0x44]), "frame");
    assert_eq!(target(find(&[0x28, 0xFA])), find(&[0xF0, 0x44, 0xFE, 0x90, 0x28]), "drawn");
    assert_eq!(target(PROGRAM.len() - 2), find(&[0xF0, 0x44]), "frame again");
}
