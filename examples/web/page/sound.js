// The sound device: plays the samples that the page has mixed, and asks for more before they run out.
const ENOUGH = 2048;
const ONCE = 1024;

class Mix extends AudioWorkletProcessor {
    constructor() {
        super();
        this.chunks = [];
        this.offset = 0;
        this.waiting = 0;
        this.asked = 0;
        this.port.onmessage = ({ data }) => {
            this.chunks.push(data);
            this.waiting += data.length / 2;
            this.asked -= data.length / 2;
        };
    }

    process(_, [[left, right]]) {
        for (let index = 0; index < left.length; index += 1) {
            const chunk = this.chunks[0];
            if (chunk === undefined) {
                left[index] = right[index] = 0;
                continue;
            }
            left[index] = chunk[this.offset];
            right[index] = chunk[this.offset + 1];
            this.offset += 2;
            this.waiting -= 1;
            if (this.offset >= chunk.length) {
                this.chunks.shift();
                this.offset = 0;
            }
        }
        if (this.waiting + this.asked < ENOUGH) {
            this.asked += ONCE;
            this.port.postMessage(ONCE);
        }
        return true;
    }
}

registerProcessor("mix", Mix);
