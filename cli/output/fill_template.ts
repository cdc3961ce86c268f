/** Text templates, a subset of Mustache. @module */

/** The values of a template, by name. */
export interface TemplateValues {
  readonly [name: string]:
    | string
    | number
    | boolean
    | readonly TemplateValues[]
    | undefined;
}

/**
 * Matches the lines from `{{#name}}` or `{{^name}}` to `{{/name}}`, or a value.
 */
const TAG = /^\{\{([#^])(\w+)\}\}\n(.*?)^\{\{\/\2\}\}\n|\{\{(\w+)\}\}/gms;

/**
 * Fills in a template in a subset of Mustache (mustache.github.io). `{{name}}`
 * is a value, unescaped. The lines between `{{#name}}` and `{{/name}}` are kept
 * if the value is true, and repeated for each item of a list; the lines after
 * `{{^name}}` are kept if it is false or absent.
 *
 * @throws {TypeError} for a name without a value, which is a bug in the
 * template.
 */
export function fillTemplate(text: string, values: TemplateValues): string {
  const fillTag = (
    _: string,
    sign: string | undefined,
    section: string,
    lines: string,
    name: string,
  ): string => {
    if (sign === undefined) {
      const value = values[name];
      if (typeof value === "string" || typeof value === "number") {
        return `${value}`;
      }
      throw new TypeError(`Cannot fill a template: no value for ${name}`);
    }
    const value = values[section];
    if (value instanceof Array) {
      return value.map((item) => fillTemplate(lines, { ...values, ...item }))
        .join("");
    }
    const isKept = (sign === "#") === Boolean(value);
    return isKept ? fillTemplate(lines, values) : "";
  };
  return text.replace(TAG, fillTag);
}
