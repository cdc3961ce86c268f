// @ts-self-types="./base58.d.ts"
export { decodeBase58, encodeBase58 } from "deno-std/encoding/base58.js";
