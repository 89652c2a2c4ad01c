/** The texts among these: what is false, undefined or empty is not said. */
export function said(...texts: readonly (string | false | undefined)[]): readonly string[] {
  return texts.filter((text) => typeof text === 'string' && text !== '') as readonly string[];
}
