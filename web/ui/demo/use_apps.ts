/** Which of the demo's applications a person has open, asked again and again. @module */

import { useEffect, useState } from "preact/hooks";
import type { Api } from "../server/api.ts";

const EVERY_MS = 1_000;

/**
 * Asks while somebody looks at this page.
 *
 * @param subject Whom about; undefined asks nothing.
 * @returns one for each application, in their order.
 */
export function useApps(
  api: Pick<Api, "openApps">,
  subject: string | undefined,
): readonly boolean[] {
  const [open, setOpen] = useState<readonly boolean[]>([]);
  useEffect(() => {
    if (subject === undefined) return;
    let gone = false;
    const look = async () => {
      if (document.hidden) return;
      // What can't be told stays as it was.
      const told = await api.openApps(subject).catch(() => undefined);
      if (gone || !Array.isArray(told?.open)) return;
      const now = told.open.map((each) => each === true);
      setOpen((before) => `${before}` === `${now}` ? before : now);
    };
    void look();
    const timer = setInterval(look, EVERY_MS);
    document.addEventListener("visibilitychange", look);
    return () => {
      gone = true;
      clearInterval(timer);
      document.removeEventListener("visibilitychange", look);
    };
  }, [subject]);
  return open;
}
