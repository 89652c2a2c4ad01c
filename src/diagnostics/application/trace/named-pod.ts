import { parseAddress, type Address } from '../../../domain/net/address.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import { CannotTraceError } from './trace-packets.js';

/** A pod that packets come from, as somebody names it. */
export interface NamedPod {
  /** `NAMESPACE/NAME`, or `NAME` if no other namespace has one of that name. */
  readonly pod: string;
}

/** A pod as the API server knows it. */
export interface KnownPod {
  /** `NAMESPACE/NAME` */
  readonly pod: string;
  /** `Running`, `Pending`, `Succeeded`, `Failed`. */
  readonly phase: string;
  /** As they are written in its status; the first is of the cluster's first family. */
  readonly ips: readonly string[];
}

const FORM = /^pod\/((?:[a-z0-9-]{1,63}\/)?[a-z0-9][a-z0-9.-]{0,252})$/;

/** Reads `pod/NAME` and `pod/NAMESPACE/NAME`, the first in that namespace if there is one. Undefined if it is none of these. */
export function parsePodName(text: string, namespace?: string): NamedPod | undefined {
  const [, name] = FORM.exec(text) ?? [];
  if (name === undefined) return undefined;
  return { pod: namespace === undefined || name.includes('/') ? name : `${namespace}/${name}` };
}

/**
 * Where its packets come from.
 * @param known the pods that may be meant
 * @param family of the packets; undefined if any will do: that of its first address
 * @throws CannotTraceError if it is not clear which pod that is, or it has no such address
 */
export function podAddress({ pod }: NamedPod, known: readonly KnownPod[], family?: IpFamily): Address {
  const [found, ...others] = known;
  if (!found) throw new CannotTraceError(`the API server knows no pod ${pod}`);
  if (others.length > 0)
    throw new CannotTraceError(
      `${known.map((one) => one.pod).join(' and ')} are called ${pod}; name one with its namespace`,
    );
  // Another pod may have got its address.
  if (['Succeeded', 'Failed'].includes(found.phase))
    throw new CannotTraceError(`the pod ${found.pod} has ended (${found.phase})`);
  const addresses = found.ips.flatMap((ip) => parseAddress(ip) ?? []);
  const address = addresses.find((one) => family === undefined || one.family === family);
  if (address) return address;
  throw new CannotTraceError(
    addresses.length === 0
      ? `the pod ${found.pod} has no address yet (${found.phase})`
      : `the pod ${found.pod} has no ${family!} address`,
  );
}
