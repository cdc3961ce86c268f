/** Whom the feed of the demo's explorer is about. @module */

import type { EventDraft } from "@sig/issuer";

/** Name, title, department, roles, type, first day; last day where there is one. */
const PEOPLE = [
  "Alice Moreau,Release engineer,Platform,deploy review,employee,2025-01-13,2026-03-31",
  "Bob Okafor,Contractor,Platform,review,contractor,2025-02-03,",
  "Chiara Rossi,Head of finance,Finance,billing approve,employee,2025-01-13,",
  "Dev Patel,Site reliability engineer,Platform,deploy on-call,employee,2025-02-17,",
  "Elif Yılmaz,Data analyst,Finance,read,employee,2025-03-03,2025-11-28",
  "Farid Haddad,Security engineer,Security,on-call audit,employee,2025-03-10,",
  "Grace Njeri,Legal counsel,Legal,approve,employee,2025-03-24,",
  "Hana Sato,Designer,Product,read,employee,2025-04-01,",
  "Ivan Horvat,Auditor,Harrow & Lane,audit,advisor,2025-04-14,",
  "Jonas Lindqvist,Engineer,Platform,deploy review,employee,2025-05-05,",
  "Katarzyna Nowak,Support lead,Support,read,employee,2025-05-19,2026-01-30",
  "Liam Byrne,Engineer,Product,review,employee,2025-06-02,",
  "Mariam Diallo,Recruiter,People,read,contractor,2025-06-16,2025-09-30",
  "نازنین رضایی,Engineer,Platform,deploy,employee,2025-07-01,",
  "Oskar Weber,Administrator,IT,admin on-call,admin_delegate,2025-07-14,",
  "Priya Raman,Product manager,Product,approve,employee,2025-08-04,",
  "Quentin Dubois,Engineer,Platform,review,contractor,2025-09-01,2026-02-27",
  "Rosa Delgado,Investor,Delgado Capital,read,investor,2025-09-15,",
  "שירה לוי,Security engineer,Security,audit on-call,employee,2025-10-06,",
  "Tomás Silva,Engineer,Product,deploy review,employee,2025-11-03,",
] as const;

/** Every join and leave, in the order in which they happened. */
export function companyDrafts(): readonly EventDraft[] {
  const dated = PEOPLE.flatMap((row, i) => {
    const [label, title, department, roles, type, from, until] = row.split(",");
    const relationship_id = `r-${i + 1}`;
    const join = {
      at: `${from}T09:00:00Z`,
      draft: {
        event_type: "relationship.upsert",
        relationship_id,
        subject: `did:web:${i === 0 ? "alice" : `p${i + 1}`}.people.example`,
        relationship_type: type,
        roles: roles!.split(" "),
        display: { label, title, department },
        // Contracts end by themselves.
        ...(type === "contractor"
          ? { valid_until: "2027-01-01T00:00:00Z" }
          : {}),
      },
    };
    if (until === "") return [join];
    const leave = {
      at: `${until}T17:00:00Z`,
      draft: {
        event_type: "relationship.revoke",
        relationship_id,
        reason_code: type === "contractor"
          ? "contract_ended"
          : "employment_ended",
      },
    };
    return [join, leave];
  });
  return dated.sort((a, b) => a.at < b.at ? -1 : 1)
    .map(({ at, draft }) => ({ ...draft, issued_at: at }) as EventDraft);
}
