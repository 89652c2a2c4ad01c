/** The longest name the kernel gives an interface: IFNAMSIZ less the final zero. */
const LONGEST = 15;
/** What the kernel refuses in a name (`/`, `:`, white space), and what could mean something in a rule's text. */
// eslint-disable-next-line no-control-regex
const FORBIDDEN = /[\s/:"'`\\*\u0000-\u001f\u007f]/;

/** Whether the text can be the name of an interface, or the start of one, and can stand in a rule as it is. */
export function isInterfaceName(text: string): boolean {
  const bytes = new TextEncoder().encode(text).length;
  return bytes > 0 && bytes <= LONGEST && text !== '.' && text !== '..' && !FORBIDDEN.test(text);
}
