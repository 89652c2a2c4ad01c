import { readFileSync } from 'node:fs';
import type { IpFamily } from '../../domain/net/ip-family.js';
import { isOwnAddress } from '../../domain/node/node-addresses.js';
import {
  EADDRNOTAVAIL,
  EEXIST,
  ENODEV,
  NetlinkRequestError,
  NetlinkUnavailableError,
} from '../netlink/errors.js';
import { NetlinkChannel } from '../netlink/netlink-channel.js';
import { NetlinkSocket } from '../netlink/netlink-socket.js';
import { NETLINK_ROUTE } from '../netlink/protocol.js';
import {
  addressRequest,
  listAddresses,
  addDummy,
  deleteLink,
  findLink,
  type Link,
} from '../rtnetlink/rtnetlink.js';
import {
  ForeignDeviceError,
  SERVICE_DEVICE,
  type AddressStep,
  type ServiceAddresses,
  type StepOutcome,
} from './ipvs-kernel.js';

/** An index that no device has, for which the kernel answers ENODEV. */
const NO_DEVICE = 0;

/** Errors that mean that nothing had to be done. */
const FINE: Readonly<Record<AddressStep['kind'], readonly number[]>> = {
  add: [EEXIST],
  remove: [EADDRNOTAVAIL, ENODEV],
};

/** Addresses over rtnetlink, in the network namespace of this process. */
export class NetlinkServiceAddresses implements ServiceAddresses {
  private readonly channel: NetlinkChannel;

  constructor(openSocket = () => NetlinkSocket.open(NETLINK_ROUTE)) {
    this.channel = new NetlinkChannel(openSocket);
  }

  async ensureDevice(): Promise<void> {
    if (await this.find()) return;
    // The other family may have made it just now.
    if (!(await addDummy(this.channel, SERVICE_DEVICE))) await this.find();
  }

  async list(family: IpFamily): Promise<readonly string[] | undefined> {
    const device = await this.find();
    if (!device) return undefined;
    const all = await listAddresses(this.channel, family);
    return all
      .filter(
        (found) =>
          found.device === device.index && isOwnAddress({ family: found.family, text: found.address }),
      )
      .map(({ address }) => address);
  }

  async apply(steps: readonly AddressStep[]): Promise<readonly StepOutcome[]> {
    if (steps.length === 0) return [];
    const index = (await this.find())?.index ?? NO_DEVICE;
    const requests = steps.map(({ kind, address }) => {
      const [doing, to] = kind === 'add' ? ['adding', 'to'] : ['removing', 'from'];
      return addressRequest(kind, index, address, `${doing} the address ${address} ${to} ${SERVICE_DEVICE}`);
    });
    const replies = await this.channel.perform(requests);
    return replies.map(({ errno, explanation }, position) =>
      errno === 0 || FINE[steps[position]!.kind].includes(errno)
        ? undefined
        : new NetlinkRequestError(requests[position]!.attempt, errno, explanation),
    );
  }

  async removeDevice(): Promise<void> {
    const device = await this.find();
    if (device) await deleteLink(this.channel, device);
  }

  close(): void {
    void this.channel.close();
  }

  /** The device, if there is one. Rejects when it has another type, or when there is one and netlink is unavailable. */
  private async find(): Promise<Link | undefined> {
    const link = await findLink(this.channel, SERVICE_DEVICE).catch((error: unknown) => {
      if (error instanceof NetlinkUnavailableError && !isListed(SERVICE_DEVICE)) return undefined;
      throw error;
    });
    if (link && link.kind !== 'dummy') throw new ForeignDeviceError(SERVICE_DEVICE, link.kind);
    return link;
  }
}

/** Whether this network namespace has the device. */
function isListed(device: string): boolean {
  return new RegExp(`^ *${device}:`, 'm').test(readFileSync('/proc/net/dev', 'utf8'));
}
