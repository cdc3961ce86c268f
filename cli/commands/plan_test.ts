import { assertEquals, assertStringIncludes } from "@std/assert";
import {
  issuerTest as test,
  terminal,
  type Workspace,
} from "../testdata/workspace.ts";

// promise: Changes are computed from the verified feed, and a saved plan can't
//   hide one.

const HEADER = "subject,type,roles,valid_until,title\n";
const ALICE = "did:web:alice.example,employee,deploy;review,,\n";
const EVE = "did:web:eve.example,advisor,,,\n";

const PLAN = "plan --dir $D/acme --from $D/people.csv";
const APPLY = "apply --dir $D/acme --from $D/people.csv";
const SAVED = "apply --dir $D/acme --plan $D/plan.json";

const list = (workspace: Workspace, ...rows: readonly string[]) =>
  workspace.write("people.csv", rows.join(""));

/** Saves the plan of the list and then applies `forge` to the file. */
async function savePlan(
  workspace: Workspace,
  // deno-lint-ignore no-explicit-any -- a file as a forger changes it
  forge: (plan: any) => unknown = (plan) => plan,
): Promise<void> {
  await Deno.remove(workspace.path("plan.json")).catch(() => {});
  await workspace.sig(`${PLAN} --out $D/plan.json`);
  const plan = JSON.parse(await workspace.read("plan.json"));
  await workspace.write("plan.json", JSON.stringify(forge(plan)));
}

test("apply refuses a saved plan that was edited or is of another issuer, or another file", async (workspace) => {
  await list(workspace, HEADER, ALICE.replace("review", "refund"));
  await savePlan(workspace, ({ changes: [change], ...plan }) => ({
    ...{ ...plan, changes: [{ ...change, subject: "did:web:eve.example" }] },
  }));
  await workspace.refused(`${SAVED} --yes`, "error: plan_outdated: ");
  await savePlan(workspace, (plan) => ({
    ...{ ...plan, issuer: "did:web:other.example" },
  }));
  await workspace.refused(
    `${SAVED} --yes`,
    "error: issuer_mismatch: Cannot apply plan: it was made for another issuer",
  );
  await savePlan(workspace, () => []);
  await workspace.refused(`${SAVED} --yes`, "error: invalid_request: ");
});

test("apply shows the real changes of an edited plan", async (workspace) => {
  await list(
    workspace,
    "subject,type,title\ndid:web:alice.example,employee,Boss\n",
  );
  for (const fields of [["title"], [], undefined, ["\u001b[2J"]]) {
    await savePlan(workspace, ({ changes: [change], ...plan }) => {
      change.after.roles.push("admin");
      return { ...plan, changes: [{ ...change, fields }] };
    });
    const given = terminal(() => false);
    const { code, stdout, stderr } = await workspace.sig(
      `${SAVED} --new-role admin`,
      given,
    );
    assertEquals([code, given.asked], [2, ["Append this?"]]);
    assertStringIncludes(stderr, "confirmation_required: ");
    assertStringIncludes(stdout, "deploy, review → deploy, review, admin");
    assertStringIncludes(stdout, "none → Boss");
  }
});

test("a saved plan without its mark readmits nobody without --readmit", async (workspace) => {
  await list(workspace, HEADER, ALICE, "did:web:bob.example,contractor,,,\n");
  await savePlan(
    workspace,
    ({ changes: [{ readmits, ...change }], ...plan }) => {
      assertEquals(readmits.reason_code, "contract_ended");
      return { ...plan, changes: [change] };
    },
  );
  await workspace.refused(`${SAVED} --yes`, "add --readmit");
});

test("after a concurrent append apply --from plans again, and confirms again only if the plan changed", async (workspace) => {
  await list(workspace, HEADER, ALICE, EVE);
  const meanwhile = (words: string) =>
    terminal(async (_, count) => {
      if (count === 1) {
        await workspace.says(`${words} --dir $D/acme`);
      }
      return true;
    });
  const same = meanwhile("upsert --subject did:web:joe.example --type advisor");
  const said = await workspace.ok(APPLY, same);
  assertStringIncludes(said, "Appended 1 event (seq=5)");
  assertEquals(same.asked.length, 1);
  await list(workspace, HEADER, ALICE.replace("review", "refund"));
  const other = meanwhile("set --relationship-id r1 --title Boss");
  assertStringIncludes(
    await workspace.ok(`${APPLY} --new-role refund`, other),
    "Boss → none",
  );
  assertEquals(other.asked.length, 2);
});
