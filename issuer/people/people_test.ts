import { assertEquals } from "@std/assert";
import {
  addPeople,
  Directory,
  type KnownKey,
  namePeople,
  People,
  readPeople,
  requireOneKey,
  savePeople,
} from "@sig/issuer/people";
import { createMemoryStore } from "@sig/issuer";
import { assertSigError } from "../../tests/kit/sig_errors.ts";

// promise: A person is taken for a key only if it is the only effective one.

const [A, B, C] = ["a", "b", "c"].map((name) => `did:web:${name}.example`) as [
  string,
  string,
  string,
];
const SSH =
  "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDtqJ7zOtqQtYqOo0CpvDXNlMhV3HeJDpjrASKGLWdop a@laptop";
const SSH_DID = "did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp";

const bytes = (text: string) => new TextEncoder().encode(text);
const read = (text: string) => readPeople(bytes(text), "people.csv");

Deno.test("reads columns in any order and case, with a BOM and semicolons, and OpenSSH keys", () => {
  const rows = read(
    `\uFEFFPersonalnummer;Name;SUBJECT;Person\r\n9;Ada;${SSH};17\r\n9;;${A};17\r\n9;;${A};17\r\n`,
  );
  assertEquals(
    rows.map(({ subject, person, name }) => [subject, person, name]),
    [
      [SSH_DID, "17", "Ada"],
      [A, "17", undefined],
    ],
  );
});

Deno.test("refuses a people file with every faulty row, up to 200", () => {
  for (
    const [text, row, detail] of [
      ["name\nAda\n", undefined, "it has no column subject"],
      ["subject,Subject\n", 1, "row 1: it has two columns subject"],
      ["subject,name\n,Ada\n", 2, "row 2: it has no subject"],
      [
        "subject\nann\n",
        2,
        "row 2: its subject is not a DID and not an OpenSSH key",
      ],
      [
        `subject,person\n${A},1\n${A},2\n`,
        3,
        "row 3: its key has two people; row 2 has the other",
      ],
      [
        `subject,name\n${A},Ann\n${A},Anna\n`,
        3,
        "row 3: its key has two names; row 2 has the other",
      ],
      [
        `subject,username\n${A},ann\n${B},ＡNN\n`,
        3,
        "row 3: its username is that of another person in row 2",
      ],
    ] as const
  ) {
    const { context } = assertSigError(
      () => read(text),
      "invalid_request",
      `Cannot read people file "people.csv": ${detail}`,
    );
    assertEquals(context.row, row);
  }
  const many = `subject\n${"SECRET\n".repeat(300)}`;
  const { context, message } = assertSigError(
    () => read(many),
    "invalid_request",
    'Cannot read people file "people.csv": row 2: its subject is not a DID and not an OpenSSH key (and 299 more faults)',
  );
  assertEquals([context.errors?.length, message.includes("SECRET")], [
    200,
    false,
  ]);
  assertSigError(
    () => readPeople(new Uint8Array([0x73, 0xfc]), "people.csv"),
    "invalid_request",
    'Cannot read people file "people.csv": it is not UTF-8',
  );
  // Not "CSV": the list that a command reads together with it is CSV, too.
  assertSigError(
    () => read('subject\n"did:web:a.example\n'),
    "invalid_request",
    'Cannot read people file "people.csv": line 2 has a quote that is not closed, or is within a cell',
  );
});

Deno.test("a name need not be unique, and keys of one person share a user name", () => {
  const rows = read(
    `subject,person,name,username\n${A},1,Hans,hans\n${B},1,Hans,hans\n${C},2,Hans,\n`,
  );
  assertEquals(rows.length, 3);
});

Deno.test("a person is the keys with one id, and the keys that the feed links", () => {
  const people = new People(
    [
      { subject: A, person: "1", name: "Ann" },
      { subject: B, person: "1" },
      { subject: "did:key:other", person: "2" },
    ],
    (subject) => subject === C ? B : subject,
  );
  assertEquals(people.keyOf(C), people.keyOf(A));
  assertEquals(people.keyOf(A), people.keyOfPerson("1"));
  assertEquals(people.keyOf("did:key:other") === people.keyOf(A), false);
  assertEquals(people.named(C).name, "Ann");
  assertEquals(people.listed(people.keyOf(C)), [A, B]);
  assertEquals(people.rootOf(C), B);
});

Deno.test("reports one person with two roots, and two persons with one root", () => {
  const known = () => true;
  const two = new People([
    { subject: A, person: "1" },
    { subject: B, person: "1" },
  ]);
  assertEquals(two.conflicts(known), [{ persons: ["1"], roots: [A, B] }]);
  // A key without an event has no root yet.
  assertEquals(two.conflicts((subject) => subject === A), []);
  const one = new People([
    { subject: A, person: "1" },
    { subject: B, person: "2" },
  ], () => A);
  assertEquals(one.conflicts(known), [{ persons: ["1", "2"], roots: [A] }]);
});

Deno.test("adding keys keeps other rows and columns, fills empty cells, and never replaces a value", () => {
  const old = `Subject;Team;name\r\n${A};"Ops;1";\r\n${B};;Bob\r\n`;
  const keys = [
    { subject: A, person: "1", name: "Ann" },
    { subject: B, name: "Robert" },
    { subject: C, person: "3", name: 'C "c"' },
  ];
  const done = addPeople(bytes(old), keys);
  assertEquals(
    done.text,
    `Subject;Team;name;person\r\n${A};"Ops;1";Ann;1\r\n${B};;Bob;\r\n${C};;"C ""c""";3\r\n`,
  );
  assertEquals(done.saved.map(({ subject }) => subject), [A, C]);
  assertEquals(done.kept.map(({ subject }) => subject), [B]);
  const again = addPeople(bytes(done.text), keys);
  assertEquals([again.text, again.saved], [done.text, []]);
});

Deno.test("saves keys in a new file, and leaves a faulty file as it is", async () => {
  const store = createMemoryStore();
  const keys = [{ subject: A, person: "1", name: "Ann" }];
  await savePeople(store, keys);
  const path = "/.sig/people.csv";
  const text = async () =>
    new TextDecoder().decode(await store.read(path, 1_000));
  assertEquals(await text(), `subject,person,name\n${A},1,Ann\n`);
  await store.exclusively(
    { timeoutMs: 1 },
    (writer) => writer.replace(path, bytes("nonsense\n")),
  );
  const refused = await savePeople(store, keys).catch((error) => error.code);
  assertEquals([refused, await text()], ["invalid_request", "nonsense\n"]);
});

const key = (
  subject: string,
  since: number,
  roles?: readonly string[],
): KnownKey => ({
  subject,
  since,
  roles: roles ?? [],
  isEffective: roles !== undefined,
});

Deno.test("finds a person by key, by id and by name, and lists people of one name", () => {
  const people = new People([
    { subject: A, person: "1", name: "Hans" },
    { subject: B, person: "2", name: "Hans" },
    { subject: C, person: "3", name: "Olga" },
  ]);
  const directory = new Directory(people, [
    key(B, 2, ["ship"]),
    key(A, 1, ["deploy"]),
  ]);
  const found = (text: string) =>
    directory.find(text)?.keys.map(({ subject }) => subject);
  assertEquals([A, "2", "Olga", "Eve"].map(found), [[A], [B], [C], undefined]);
  const { context } = assertSigError(
    () => directory.find("Hans"),
    "ambiguous_relationship",
    `Cannot choose a person: 2 people have the name "Hans": 1, Hans, deploy, ${A}; 2, Hans, ship, ${B}`,
  );
  assertEquals(context.people, [
    { person: "1", name: "Hans", subject: A, roles: ["deploy"] },
    { person: "2", name: "Hans", subject: B, roles: ["ship"] },
  ]);
});

Deno.test("one key is the only effective one, never the first one", () => {
  const of = (...keys: readonly KnownKey[]) => ({
    ...{ person: "1", name: "Ann", username: null, keys },
  });
  assertEquals(requireOneKey(of(key(A, 1), key(B, 2, [])), "Ann"), B);
  assertSigError(
    () => requireOneKey(of(key(A, 1), key(B, 2)), "Ann"),
    "ambiguous_relationship",
    `Cannot choose a key: "Ann" has no key with an effective relationship: ${A} (not effective); ${B} (not effective)`,
  );
  assertSigError(
    () => requireOneKey(of(key(A, 1, ["x"]), key(B, 2, [])), "Ann"),
    "ambiguous_relationship",
    `Cannot choose a key: "Ann" has 2 keys with an effective relationship: ${A} (x); ${B} (no roles)`,
  );
});

Deno.test("a short list names two people, then their number", () => {
  const people = new People([
    { subject: A, person: "1", name: "Olga Berg" },
    { subject: B, person: "2" },
  ]);
  assertEquals(namePeople([A, B], people), "Olga Berg, 2");
  assertEquals(
    namePeople([A, B, C, "x"], people),
    "Olga Berg, 2, … and 2 more",
  );
});
