/**
 * Recovery of an issuer whose signing key was stolen or lost: statements of a
 * recovery key that end signing keys (docs/protocol.md §14).
 *
 * @example The commitment to a recovery key
 * ```ts
 * import { commitmentTo, readRecovery } from "@sig/jose/recovery";
 * import { assertEquals } from "@std/assert";
 *
 * const x = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"; // RFC 8037, A.2
 * const member = { commitment: commitmentTo(x), statements: [] };
 * const recovery = await readRecovery(member, "did:web:acme.example");
 * assertEquals(recovery.ended.size, 0);
 * ```
 *
 * @module
 */
export * from "./checkpoint_lines.ts";
export * from "./recovery.ts";
export * from "./statement.ts";
