// A timer in a worker: browsers throttle the timers of a page in the background, and a match must not fall silent there.
setInterval(() => postMessage(0), 25);
