// @ts-self-types="./mod.d.ts"
export { monotonicUlid } from "deno-std/ulid/monotonic_ulid.js";
