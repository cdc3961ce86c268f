import { assertEquals } from "@std/assert";
import { identityHeaders } from "./forward_auth.ts";

/** Returns the headers as an application reads them that decodes UTF-8. */
function headersOf(roles: readonly string[], name: string) {
  const relationship = {
    ...{ issuer: "did:web:acme.example", relationship_id: "r1" },
    ...{ type: "employee", roles, sequence: 1 },
  };
  const subject = "did:web:ada.example";
  const headers = new Headers(
    identityHeaders(subject, relationship, () => name),
  );
  return ["remote-groups", "remote-name"].map((name) => {
    const text = headers.get(name) ?? "";
    const bytes = Uint8Array.from(text, (each) => each.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  });
}

Deno.test("attack: omits a role that a header would change into another role", () => {
  for (
    const role of [
      ...["ops ", "ops\t", "ops\r\n", "\u0000ops", "op\u0000s", "ops\u007f"],
      ...["ops\u00a0", "ops\u0085", "ops,role:admin", "ops\ud800", "ops\ufeff"],
    ]
  ) {
    assertEquals(
      headersOf([role, "dev"], "Ada"),
      ["employee,role:dev", "Ada"],
      JSON.stringify(role),
    );
  }
});

Deno.test("names and roles arrive unchanged, whichever byte they end with", () => {
  assertEquals(
    headersOf(["città"], " Š\u0085\r\nRemote-User: root à "),
    ["employee,role:città", "Š   Remote-User: root à"],
  );
});
