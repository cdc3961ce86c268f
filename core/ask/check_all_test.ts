import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { check, checkAllSteps } from "./check.ts";
import { type AskedQuestion, parseQuestion } from "./question.ts";
import { type FeedState, replay } from "../replay/replay.ts";
import { parseRequirements } from "./requirement.ts";
import { runSteps } from "../text/steps.ts";
import { ALICE, day, ISSUER, revoke, upsert } from "../../tests/kit/events.ts";

const now = new Date(day(15));

function askAll(state: FeedState, questions: readonly AskedQuestion[]) {
  const steps = checkAllSteps(
    state,
    questions.map((each) => parseQuestion(each)),
    { now },
  );
  return runSteps(steps).map((answer) => runSteps(answer()));
}

const ROLES = ["a", "b", "c"];
const change = fc.record({
  id: fc.constantFrom("r1", "r2", "r3", "r4"),
  roles: fc.subarray(ROLES),
  revokes: fc.nat(3),
  from: fc.constantFrom(null, day(10), day(20), day(25)),
  until: fc.constantFrom(null, day(12), day(28)),
});
const question = fc.record({
  require: fc.array(
    fc.constantFrom(
      ...ROLES.map((each) => `role=${each}`),
      ...["role=d", "relationship=employee", "relationship_id=r2"],
    ),
    { minLength: 1, maxLength: 4 },
  ).map(parseRequirements),
  explain: fc.boolean(),
});

Deno.test("several questions get the same answers together as separately", () => {
  fc.assert(fc.property(
    fc.array(change, { maxLength: 9 }),
    fc.array(question, { minLength: 1, maxLength: 12 }),
    fc.constantFrom({}, { at: day(5) }, { asOf: day(4) }),
    (changes, asked, time) => {
      const events = changes.map(({ id, roles, revokes, from, until }, i) =>
        revokes === 0 ? revoke(i + 1, { relationship_id: id }) : upsert(
          i + 1,
          { relationship_id: id, roles, valid_from: from, valid_until: until },
        )
      );
      const { state } = replay(events, { issuer: ISSUER });
      const questions = asked.map((each) => ({
        subject: ALICE,
        ...each,
        ...time,
      }));
      assertEquals(
        askAll(state, questions),
        questions.map((each) => check(state, { ...each, now })),
      );
    },
  ));
});

Deno.test("several questions read the subject's relationships once", () => {
  const events = [upsert(1), upsert(2, { relationship_id: "r2" })];
  const { state } = replay(events, { issuer: ISSUER });
  const asked: string[] = [];
  const counted: FeedState = {
    ...state,
    history: new Proxy(state.history, {
      get(history, name) {
        const member = Reflect.get(history, name, history);
        if (typeof member !== "function") return member;
        asked.push(String(name));
        return member.bind(history);
      },
    }),
  };
  const questions = (["role=a", "role=b", "role=deploy"] as const).map((
    each,
  ) => ({
    subject: ALICE,
    require: [each] as const,
  }));
  assertEquals(
    askAll(counted, questions).map(({ decision }) => decision),
    ["deny", "deny", "allow"],
  );
  assertEquals(asked, ["relationshipsOf"]);
});

Deno.test("rejects an empty list of questions, and questions that differ in subject or time", () => {
  const { state } = replay([upsert(1)], { issuer: ISSUER });
  const one = { subject: ALICE, require: ["role=deploy"] } as const;
  for (
    const questions of [
      [],
      [one, { ...one, subject: "did:web:bob.example" }],
      [one, { ...one, at: day(1) }],
      [one, { ...one, asOf: 1 }],
    ]
  ) {
    assertThrows(() => askAll(state, questions), TypeError, "Cannot check");
  }
});
