import type { Explanation } from '../../application/use-cases/explanation.js';
import { explanationText } from '../../application/use-cases/explanation-text.js';
import { hostPort } from '../../domain/net/address.js';
import type { CommandLine } from '../configuration/command-line.js';
import { splitHostPort } from '../configuration/types/listen-address.js';

/** How long the proxy may take to answer, in milliseconds. */
const TIMEOUT = 10_000;

/** Asks the proxy running on this node how it handles a Service, and prints it. 1 when it does not know that Service. */
export async function explain({ service = '', configuration }: CommandLine): Promise<number> {
  const url = `${metricsUrl(configuration.metricsBindAddress)}/debug/services/${service}`;
  const explanation = await ask(url);
  process.stdout.write(explanationText(explanation));
  return explanation.known ? 0 : 1;
}

async function ask(url: string): Promise<Explanation> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT) });
    return (await response.json()) as Explanation;
  } catch (error) {
    const { cause } = error as { readonly cause?: unknown };
    const reason = cause instanceof Error ? cause.message : String(error);
    throw new Error(
      `no proxy answers at ${url}: ${reason}; check that it is running, with the same --metrics-bind-address`,
      { cause: error },
    );
  }
}

/** The URL of this node's metrics server. */
function metricsUrl(bindAddress: string): string {
  const address = splitHostPort(bindAddress);
  if (!address)
    throw new Error('explain asks the metrics server, which is turned off; set --metrics-bind-address');
  const { host, port } = address;
  const local = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host;
  return `http://${hostPort(local, Number(port))}`;
}
