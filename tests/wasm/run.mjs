// Runs the test of targets without threads: node run.mjs FILE.wasm
import { readFileSync } from "node:fs";

let memory;
const env = {
  print: (text, length) => console.error(new TextDecoder().decode(new Uint8Array(memory.buffer, text, length))),
};
const { instance } = await WebAssembly.instantiate(readFileSync(process.argv[2]), { env });
memory = instance.exports.memory;
const checks = instance.exports.run();
if (!(checks > 0)) throw new Error("no check has run");
console.log(`ok: ${checks} checks on a target without threads`);
