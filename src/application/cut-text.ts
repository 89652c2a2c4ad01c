/** The longest that is kept of a text of others: of a message of the API server, or of an answer. Characters. */
const LONGEST = 1_024;

/** The beginning of a text whose length others decide, and how much is missing. */
export function cutText(text: string, longest = LONGEST): string {
  const more = text.length - longest;
  return more > 0 ? `${text.slice(0, longest)}… (${more} more characters)` : text;
}
