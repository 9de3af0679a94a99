; A program for the PC Engine that reads both pads in each frame and adds them up in memory.
; Built by `ca65 pads.pce.s -o pads.o && ld65 -C pads.pce.cfg pads.o -o pads.pce`.

.setcpu "huc6280"

.segment "CODE"

reset:
    sei
    csh
    cld
    lda #$FF
    tam #$01            ; the devices at $0000
    lda #$F8
    tam #$02            ; the memory at $2000
    ldx #$FF
    txs
    lda #$07
    sta $1402           ; no interrupts: the frame is asked for
    st0 #5
    st1 #$88
    st2 #$00
    tii $2000, $2001, 1
    stz $10
    stz $11
    stz $12
    stz $13

frame:
    lda $0000
    and #$20
    beq frame
    lda #$01
    sta $1000
    lda #$03
    sta $1000
    ldx #0
pad:
    lda #$01
    sta $1000
    pha
    pla
    lda $1000
    asl
    asl
    asl
    asl
    sta $14
    stz $1000
    pha
    pla
    lda $1000
    and #$0F
    ora $14
    eor #$FF
    clc
    adc $10,x
    sta $10,x           ; the sum of a pad
    inx
    cpx #2
    bne pad
    lda $10
    asl
    adc $12
    eor $11
    sta $12             ; a mix that depends on every press
    inc $13             ; frames
    bra frame

.segment "VECTORS"
    .word reset, reset, reset, reset, reset
