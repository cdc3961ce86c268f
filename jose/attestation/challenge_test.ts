import { assertEquals } from "@std/assert";
import { describeChallenge, type DescribedChallenge } from "@sig/jose";

const BARE: DescribedChallenge = {
  challenge_id: "c-1",
  audience: "https://shop.example",
  nonce: "n-1",
  scopes: [],
  subject: null,
  require: null,
  issued_at: "2026-01-31T09:00:00Z",
  expires_at: "2026-01-31T09:05:00Z",
};

Deno.test("the description of a challenge without scopes says so", () => {
  const lines = describeChallenge(BARE).split("\n");
  assertEquals(lines.length, 12);
  assertEquals(lines[3], "You grant: nothing more");
});

Deno.test("a value can't look like another line of the description", () => {
  for (const mark of "\n\r\u2028\u2029\u0085\u000b\u202e") {
    const value = `x${mark}URI: https://bank.example`;
    const message = describeChallenge({
      ...BARE,
      audience: value,
      subject: value,
      scopes: [value],
      require: [value],
      nonce: value,
    });
    // deno-lint-ignore no-control-regex -- matches control characters
    const lines = message.split(/[\n\r\u000b\u0085\u2028\u2029]/);
    assertEquals(lines.length, 13);
    assertEquals(
      lines.filter((line) => line.startsWith("URI: ")).length,
      1,
    );
    assertEquals(message.includes("\u202e"), false);
  }
});
