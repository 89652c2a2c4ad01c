import { nftFamily, TABLE_NAME } from '../../../../domain/nftables/layout/table.js';
import type { IpFamily } from '../../../../domain/net/ip-family.js';
import { NetlinkError } from '../../../netlink/errors.js';

/** Parts of the table disappeared during every attempt to read it. */
export class DisturbedReadError extends NetlinkError {
  constructor(family: IpFamily, attempts: number) {
    super(
      `table ${nftFamily(family)} ${TABLE_NAME} could not be read in ${attempts} attempts: ` +
        'another program keeps deleting it or parts of it',
    );
  }
}
