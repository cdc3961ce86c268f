import { assert, assertStringIncludes } from "@std/assert";
import { displayWidth } from "@sig/api/program";
import { FEED, issuerTest as test } from "../testdata/workspace.ts";

test("who prints an HTML page that names the verified feed", async (workspace) => {
  const people = new Uint8Array([0xff]);
  await workspace.write("people.csv", people);
  await workspace.refused(
    "who $D/acme --people $D/people.csv",
    "it is not UTF-8",
  );
  const page = await workspace.ok("who $D/acme --format html");
  const feed = new TextEncoder().encode(await workspace.read(FEED));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", feed));
  for (
    const part of [
      "<dd>did:web:acme.example</dd>",
      "<dd>events 1 to 3</dd>",
      `<dd>${digest.toHex()}</dd>`,
      "<dd>orgsign-1: events 1 to 3</dd>",
      '<td>did:web:alice.example</td>\n<td class="short">employee</td>\n<td>deploy, review</td>',
      "default-src 'none'",
    ]
  ) assertStringIncludes(page, part);
  assert(!/<script|(?:src|href)=/.test(page));
});

test("a hint mentions a folder with the host's name, also with --allow-insecure", async (workspace) => {
  const given = { io: { exists: (path: string) => path === "acme" } };
  for (const command of ["verify", "who", "doctor"]) {
    await workspace.says(`${command} acme --allow-insecure`, {
      ...given,
      code: 2,
      err: [
        'fetch_failed: Cannot fetch "http://acme/.well-known/sig.json"',
        "hint: A folder of that name exists: write ./acme to read it.",
      ],
    });
  }
});

test("reports fit the width of a terminal", async (workspace) => {
  const key = "did:key:z6MkrJVnaZkeFzdQyMZu1cgjg7k1pZZ6pvBQ7XJPt4swbTQ2";
  await workspace.ok(
    `upsert --dir $D/acme --subject ${key} --type employee --role deploy --role mail --relationship-id phone`,
  );
  await workspace.write(
    "acme/.sig/people.csv",
    `subject,person,name\n${key},17,Olga Berg\n`,
  );
  for (const words of ["who $D/acme", "audit $D/acme", "log $D/acme"]) {
    for (const width of [60, 100, 120]) {
      const { stdout } = await workspace.sig(words, {
        terminals: ["stdout"],
        env: { NO_COLOR: "1" },
        io: { columns: () => width },
      });
      for (const line of stdout.split("\n")) {
        // The heading is a sentence.
        if (!/^(?:Active|did:web:acme)/.test(line)) {
          assert(displayWidth(line) <= width, `${width}: ${line}`);
        }
      }
      if (width === 100 && words.startsWith("who")) {
        assertStringIncludes(stdout, "did:key:z6MkrJV…swbTQ2");
      }
      if (width === 120 && words.startsWith("audit")) {
        assertStringIncludes(stdout, "\ntime ");
        assertStringIncludes(stdout, "  …t4swbTQ2  ");
      }
    }
  }
});
