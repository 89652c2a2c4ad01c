import { nftFamily, TABLE_NAME } from '../../../domain/nftables/table.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import { NetlinkError } from '../../netlink/errors.js';

/** Others changed nf_tables each time that the table was being read. */
export class DisturbedReadError extends NetlinkError {
  constructor(family: IpFamily, attempts: number) {
    super(
      `table ${nftFamily(family)} ${TABLE_NAME} could not be read undisturbed in ${attempts} attempts: ` +
        'something commits nf_tables transactions all the time',
    );
  }
}
