@ A program for the Game Boy Advance that reads the pad in each frame, adds it up in memory and shows the sum as a colour.
@ Built by `arm-none-eabi-as pads.gba.s -o pads.o && arm-none-eabi-objcopy -O binary pads.o pads.gba`.

    .arm
    b start
    .fill 156, 1, 0         @ the logo, which only the BIOS looks at
    .ascii "REBOUT PADS\0"
    .ascii "RBPE00"
    .byte 0x96, 0, 0
    .fill 7, 1, 0
    .byte 0, 0x18
    .fill 2, 1, 0

start:
    mov r0, #0x04000000
    mov r1, #0x02000000
    mov r8, #0x05000000
    mov r9, #0
    strh r9, [r0]
frame:
    ldrh r2, [r0, #6]
    cmp r2, #160
    bne frame
    add r3, r0, #0x130
    ldrh r4, [r3]
    mvn r4, r4
    mov r4, r4, lsl #22
    mov r4, r4, lsr #22
    ldr r5, [r1]
    add r5, r5, r4
    str r5, [r1]            @ the sum of the pad
    ldr r6, [r1, #4]
    eor r6, r5, r6, ror #27
    str r6, [r1, #4]        @ a mix that depends on every press
    ldr r7, [r1, #8]
    add r7, r7, #1
    str r7, [r1, #8]        @ frames
    strh r6, [r8]
drawing:
    ldrh r2, [r0, #6]
    cmp r2, #160
    beq drawing
    b frame
