/** What becomes of the source of traced packets: on terminals and on the page alike. */
export const SOURCE_WORDS = {
  true: 'rewritten to an address of this node',
  false: 'kept',
  mixed: 'rewritten for some endpoints, or depending on the routes of the node',
} as const;
