; A program for the SNES that reads both pads in each frame, adds them up in memory and shows the sum as a colour.
; Built by `ca65 pads.sfc.s -o pads.o && ld65 -C pads.sfc.cfg pads.o -o pads.sfc`. With `-D LINES_240` the picture has 240 lines, and the
; machine reads its pads while a core ends the frame.

.p816
.smart

.segment "CODE"

reset:
    sei
    clc
    xce
    rep #$38
    ldx #$1FFF
    txs
    lda #0
    tcd
    sep #$20
    lda #$8F
    sta $2100
    stz $2105
.ifdef LINES_240
    lda #$04
    sta $2133
.endif
    stz $212C
    stz $2121
    lda #$01
    sta $4200           ; pads are read by the machine in each frame
    lda #$0F
    sta $2100

frame:
    lda $4212
    bpl frame           ; until the picture is drawn
reading:
    lda $4212
    and #$01
    bne reading
    rep #$20
    lda $4218
    clc
    adc $10
    sta $10             ; the sum of pad one
    lda $421A
    clc
    adc $12
    sta $12             ; the sum of pad two
    asl
    adc $14
    eor $10
    sta $14             ; a mix that depends on every press
    inc $16             ; frames
    sep #$20
    stz $2121
    lda $14
    sta $2122
    lda $15
    and #$7F
    sta $2122
drawing:
    lda $4212
    bmi drawing
    bra frame

.segment "HEADER"
    .byte "REBOUT PADS          "
    .byte $20, $00, $05, $00, $01, $00, $00
    .word $FFFF, $0000

.segment "VECTORS"
    .word 0, 0, 0, 0, 0, 0, 0, 0
    .word 0, 0, 0, 0, 0, 0, reset, 0
