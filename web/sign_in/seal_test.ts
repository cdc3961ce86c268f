import { assertEquals } from "@std/assert";
import { createHmac } from "node:crypto";
import { seal, type SealingKeys, unseal } from "./seal.ts";

const START_MS = Date.parse("2026-01-31T09:00:00Z");

/** Returns a login's keys and clock. */
function loginWith(secrets: readonly string[], laterMs = 0, name = "login") {
  const keys: SealingKeys = {
    macsOf: (text) =>
      secrets.map((secret) =>
        createHmac("sha256", secret).update(text).digest("base64url")
      ),
  };
  const now = () => new Date(START_MS + laterMs);
  return { keys, issuer: `https://${name}.example`, now };
}

const LOGIN = loginWith(["a"]);
const SEALED = seal(LOGIN, "sign-in", { scope: "openid" }, 60_000);
const [PAYLOAD = "", MAC = ""] = SEALED.split(".");
const OTHER = seal(LOGIN, "sign-in", { scope: "groups" }, 60_000).split(".")[0];

/** Each differs from reading the sealed text at once, where it was sealed. */
const CASES: readonly (readonly [
  what: string,
  isValid: boolean,
  change: {
    readonly text?: string;
    readonly purpose?: string;
    readonly login?: typeof LOGIN;
  },
])[] = [
  ["the text", true, {}],
  ["it in its last millisecond", true, { login: loginWith(["a"], 59_999) }],
  ["it after its expiry", false, { login: loginWith(["a"], 60_000) }],
  ["it after a new key", true, { login: loginWith(["b", "a"]) }],
  ["it with other keys", false, { login: loginWith(["b"]) }],
  ["it without keys", false, { login: loginWith([]) }],
  ["it at another login", false, { login: loginWith(["a"], 0, "shop") }],
  ["it for another purpose", false, { purpose: "form-post" }],
  ["another value with its seal", false, { text: `${OTHER}.${MAC}` }],
  ["another seal", false, { text: `${PAYLOAD}.${"A".repeat(43)}` }],
  ["no seal", false, { text: `${PAYLOAD}.` }],
  ["the seal alone", false, { text: `.${MAC}` }],
  ["nothing", false, { text: "" }],
];

Deno.test("a sealed value is read back only unchanged, in time, for its purpose, by its login", async (t) => {
  for (const [what, isValid, change] of CASES) {
    const { text = SEALED, purpose = "sign-in", login = LOGIN } = change;
    await t.step(what, () => {
      const value = unseal<{ scope: string }>(login, purpose, text);
      assertEquals(value?.scope, isValid ? "openid" : undefined);
    });
  }
});
