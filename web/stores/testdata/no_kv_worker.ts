/** `open_worker.ts` in a Deno that offers no KV, as without --unstable-kv. */

Reflect.deleteProperty(Deno, "openKv");
await import("./open_worker.ts");
