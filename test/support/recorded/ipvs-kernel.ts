import { parseAddress } from '../../../src/domain/net/address.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import { recordedText, type RecordedStep } from './cluster.js';

/** What the tools printed of a recorded node, of one family, sorted. */
export interface RecordedKernel {
  /** Lines of `ipvsadm -S -n`, without real servers that only drain. */
  readonly servers: readonly string[];
  readonly addresses: readonly string[];
  /** Lines of `ipset save`, without what the kernel adds by itself. */
  readonly sets: readonly string[];
}

export function recordedKernel(step: RecordedStep, family: IpFamily): RecordedKernel {
  const text = (tool: string) => recordedText(step, 'ipvs', tool);
  const ofFamily = (six: boolean) => six === (family === 'IPv6');
  return {
    servers: lines(text('ipvs')).filter((line) => !line.endsWith(' -w 0') && ofFamily(line.includes('['))),
    addresses: text('addresses')
      .split(/\s+/)
      .flatMap((word) => {
        const [address, length] = word.split('/');
        return length !== undefined && parseAddress(address)?.family === family ? [address!] : [];
      })
      .sort(),
    sets: lines(text('ipset').replace(/ bucketsize \d+ initval \w+/g, '')).filter((line) =>
      ofFamily(/^\w+ KUBE-6-/.test(line)),
    ),
  };
}

function lines(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .sort();
}
