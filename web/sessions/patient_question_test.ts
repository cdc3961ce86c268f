import {
  createMemoryStore,
  type RecordStore,
  storeUnavailable,
} from "@sig/consumer/store";
import { assertEquals, assertRejects } from "@std/assert";
import { SigError } from "@sig/core";
import type { AskIssuer, Remembered, Standing } from "../login/login_gate.ts";
import { createAssessment } from "./assess.ts";
import { createLastWord } from "./last_word.ts";
import { createPatientQuestion } from "./patient_question.ts";
import { createSessions } from "./sessions.ts";

const STANDING: Standing = {
  issuer: "did:web:acme.example",
  relationship_id: "r1",
  type: "employee",
  roles: [],
  sequence: 1,
};
const START_MS = Date.parse("2026-01-31T09:00:00Z");
let laterMs = 0;
const now = () => new Date(START_MS + laterMs);

/** A session, its issuer's answer, and a store that may refuse to write. */
async function start(
  answer: () => Standing | undefined,
  remembered: () => Remembered = () => ({ sequence: 0, standing: undefined }),
) {
  const memory = createMemoryStore();
  const place = { isReadOnly: false };
  const store: RecordStore = {
    ...memory,
    put: (...record) =>
      place.isReadOnly
        ? Promise.reject(storeUnavailable("in memory", "it takes no writes"))
        : memory.put(...record),
  };
  const sessions = createSessions({
    ...{ store, lifeMs: 3_600_000, now },
    terms: {
      audience: "https://shop.example",
      ...{ issuer: STANDING.issuer, require: ["relationship=employee"] },
    },
    tell: () => Promise.resolve(),
  });
  const ask: Pick<AskIssuer, "issuer" | "check" | "standing"> = {
    issuer: STANDING.issuer,
    check: () => Promise.reject(new TypeError("nobody asks for it here")),
    standing: () => new Promise((resolve) => resolve(answer())),
  };
  const ongoing = createPatientQuestion({
    assess: createAssessment({ ask, sessions }),
    lastWord: createLastWord({
      ask: { remembered: () => Promise.resolve(remembered()) },
      now,
    }),
    ...{ maxAgeMs: 0, now },
  });
  const { session } = await sessions.logIn({
    subject: "did:key:z6Mk",
    standing: STANDING,
  });
  return { ongoing, place, session, sessions };
}

Deno.test("who is denied does not go on where the store can't end the session", async () => {
  let answer: Standing | undefined = STANDING;
  const { ongoing, place, session } = await start(() => answer);
  assertEquals(await ongoing(session), STANDING);
  place.isReadOnly = true;
  answer = undefined;
  for (const _ of [1, 2]) {
    await assertRejects(
      () => ongoing(session),
      SigError,
      "Cannot end session: the store can't be asked",
    );
  }
  place.isReadOnly = false;
  assertEquals(await ongoing(session), undefined);
});

Deno.test("where the issuer is silent the session goes on, and it is not asked at once again", async () => {
  let isSilent = true;
  const { ongoing, session } = await start(() => {
    if (isSilent) throw new SigError("fetch_failed", "Cannot ask issuer");
    return undefined;
  });
  assertEquals(await ongoing(session), STANDING);
  isSilent = false;
  // It is not asked again at once.
  assertEquals(await ongoing(session), STANDING);
});

Deno.test("where the issuer is silent, what it said last holds: no role comes back that it took away", async () => {
  const admin = { ...STANDING, roles: ["admin"], sequence: 2 };
  const member = { ...STANDING, roles: [], sequence: 3 };
  let answer: Standing | undefined = admin;
  const { ongoing, place, session: { sid }, sessions } = await start(() => {
    if (answer === undefined) {
      throw new SigError("fetch_failed", "Cannot ask issuer");
    }
    return answer;
  });
  const ask = async () => await ongoing((await sessions.get(sid))!);
  assertEquals(await ask(), admin);
  // Whether the store takes it or not, it is true.
  place.isReadOnly = true;
  answer = member;
  assertEquals(await ask(), member);
  place.isReadOnly = false;
  assertEquals(await ask(), member);
  // A process that has seen less makes nobody forget.
  answer = admin;
  assertEquals(await ask(), admin);
  answer = undefined;
  assertEquals(await ask(), member);
});

Deno.test("where the issuer is silent nobody goes on beyond the end that it said, nor is ended", async () => {
  const until = {
    ...STANDING,
    not_after: "2026-01-31T09:00:00Z",
    sequence: 2,
  };
  const further = { ...until, not_after: "2026-01-31T09:30:00Z", sequence: 3 };
  const unavailable = new SigError("fetch_failed", "Cannot ask issuer");
  let answer: Standing | SigError = until;
  const { ongoing, session: { sid }, sessions } = await start(() => {
    if (answer instanceof SigError) throw answer;
    return answer;
  });
  const ask = async () => await ongoing((await sessions.get(sid))!);
  try {
    laterMs = -1;
    assertEquals(await ask(), until);
    answer = unavailable;
    assertEquals(await ask(), until);
    for (const ms of [0, 1, 60_000]) {
      laterMs = ms;
      // Asked and not asked again at once.
      for (const _ of [1, 2]) {
        assertEquals(await assertRejects(ask), unavailable);
      }
    }
    answer = further;
    laterMs += 10_000;
    assertEquals(await ask(), further);
    answer = unavailable;
    assertEquals(await ask(), further);
  } finally {
    laterMs = 0;
  }
});

Deno.test("where the issuer is silent nobody goes on whom it denied last, as far as this process knows", async () => {
  const silent = new SigError("fetch_failed", "Cannot ask issuer");
  let remembered: Remembered = { sequence: 1, standing: STANDING };
  const { ongoing, session } = await start(() => {
    throw silent;
  }, () => remembered);
  assertEquals(await ongoing(session), STANDING);
  remembered = { sequence: 2, standing: undefined };
  for (const _ of [1, 2]) {
    assertEquals(await assertRejects(() => ongoing(session)), silent);
  }
  // It has seen less than the login did.
  remembered = { sequence: 0, standing: undefined };
  assertEquals(await ongoing(session), STANDING);
  const newer = { ...STANDING, roles: ["ops"], sequence: 3 };
  remembered = { sequence: 3, standing: newer };
  assertEquals(await ongoing(session), newer);
});
