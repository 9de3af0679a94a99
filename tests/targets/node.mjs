// Prints the facts of a WebAssembly program or module: `node node.mjs wasi FILE`, `node node.mjs web FILE`.
import { readFile } from 'node:fs/promises';

const [kind, file] = process.argv.slice(2);
const module = await WebAssembly.compile(await readFile(file));
if (kind === 'wasi') {
  const { WASI } = await import('node:wasi');
  const wasi = new WASI({ version: 'preview1', args: [file], env: {} });
  wasi.start(await WebAssembly.instantiate(module, wasi.getImportObject()));
} else {
  // No import at all: no clock, no randomness, no socket.
  const { exports } = await WebAssembly.instantiate(module, {});
  if (exports.entropy_is_demanded() !== 1) {
    throw new Error('a lobby without entropy was accepted');
  }
  ['golden', 'replays', 'traffic', 'stress', 'transport'].forEach((name, number) => {
    const value = BigInt.asUintN(64, exports.fact(number));
    console.log(`${name} ${value.toString(16).padStart(16, '0')}`);
  });
}
