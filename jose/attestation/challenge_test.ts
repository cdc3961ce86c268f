import { assertEquals } from "@std/assert";
import { describeChallenge, type DescribedChallenge } from "@sig/jose";
import { CHALLENGE } from "../testdata/tokens.ts";

const BARE: DescribedChallenge = {
  ...CHALLENGE,
  scopes: [],
  subject: null,
  require: null,
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
