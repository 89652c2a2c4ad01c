/** The longest name of an interface: IFNAMSIZ minus the final zero. Bytes. */
const LONGEST = 15;
/** Characters that the kernel rejects in a name (`/`, `:`, white space), and those with a meaning in a rule's text. */
// eslint-disable-next-line no-control-regex
const FORBIDDEN = /[\s/:"'`\\*\u0000-\u001f\u007f]/;

/** Whether the text is a valid name of an interface, or the start of one, and safe in a rule. */
export function isInterfaceName(text: string): boolean {
  const bytes = new TextEncoder().encode(text).length;
  return bytes > 0 && bytes <= LONGEST && text !== '.' && text !== '..' && !FORBIDDEN.test(text);
}
