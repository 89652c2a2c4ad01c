import { servicesAnswer } from '../../../application/status/service-row.js';
import { subcommands, type Asked } from '../command-line/subcommands.js';
import { CannotAskError } from '../asking/cannot-ask-error.js';
import { RunningProxy } from '../asking/running-proxy.js';
import { print } from '../output/print.js';
import { candidates } from './candidates.js';

/** Somebody waits at a prompt. Milliseconds. */
const PATIENCE = 1_000;

/**
 * Prints what the last of these words may be, one a line; with names of Services, if a proxy answers.
 * @param flags the names of the flags of the proxy
 * @param addressIn where the metrics server is of the proxy that a command line would ask
 */
export async function complete(
  { request }: Asked<'__complete'>,
  flags: readonly string[],
  addressIn: (words: readonly string[]) => string,
): Promise<number> {
  const { words, takesServices } = candidates(request.words, subcommands, flags);
  const current = request.words.at(-1) ?? '';
  const names = takesServices ? await namesAt(addressIn([...request.words.slice(0, -1), 'any'])) : [];
  const found = [...words, ...names.filter((name) => name.startsWith(current))];
  await print(found.map((word) => `${word}\n`).join(''));
  return 0;
}

/** In full, as they are unique. None if no proxy answers: an error would stand in the middle of a command line. */
async function namesAt(bindAddress: string): Promise<readonly string[]> {
  try {
    const { services } = await RunningProxy.at(bindAddress).ask('/debug/services', servicesAnswer, PATIENCE);
    return services.map(({ namespace, name }) => `${namespace}/${name}`);
  } catch (error) {
    if (error instanceof CannotAskError) return [];
    throw error;
  }
}
