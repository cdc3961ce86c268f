/** Whether every link of the site leads somewhere. @module */

/**
 * Finds links that lead nowhere.
 *
 * @param files the site's files, by their paths; HTML as text.
 * @returns one line for each, for people.
 */
export function findDeadLinks(
  files: ReadonlyMap<string, string>,
): readonly string[] {
  const dead: string[] = [];
  for (const [path, html] of files) {
    if (!path.endsWith(".html")) continue;
    const links = html.matchAll(/\s(?:href|src|srcset)="([^"]*)"/g);
    for (const [, link] of links) {
      const target = link!.replaceAll("&amp;", "&");
      if (/^(?:https?|mailto):/.test(target)) continue;
      const url = new URL(target, `file:///${path}`);
      const file = decodeURIComponent(url.pathname).slice(1);
      const content = files.get(file);
      if (content === undefined) {
        dead.push(`${path}: ${target} does not exist`);
      } else if (url.hash !== "" && file.endsWith(".html")) {
        const id = decodeURIComponent(url.hash).slice(1);
        if (!content.includes(` id="${id}"`)) {
          dead.push(`${path}: ${target}: there is no such heading`);
        }
      }
    }
  }
  return dead;
}
