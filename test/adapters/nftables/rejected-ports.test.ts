import { rejectedPorts } from '../../../src/adapters/nftables/nftables-driver.js';
import { NftCommitError, type NftFailure } from '../../../src/adapters/nftables/transport.js';
import { servicePortKey } from '../../../src/domain/model/service-port-name.js';
import { setsOf, VARIANTS } from '../../../src/domain/nftables/layout/sets.js';
import { Transaction } from '../../../src/domain/nftables/state/transaction.js';

const { frontends: set } = setsOf(VARIANTS[0]!);
const [a, b, c] = ['a', 'b', 'c'].map((name) =>
  servicePortKey({ namespace: 'shop', name, port: '', protocol: 'TCP' }),
);

/** Replaces an element of each. */
function replacement(): Transaction {
  const transaction = new Transaction();
  const elements = [{ key: 'of a' }, { key: 'of b' }, { key: 'of c' }];
  transaction.add({ op: 'delete-elements', set, elements }, [a, b, c]);
  transaction.add({ op: 'add-elements', set, elements }, [a, b, c]);
  return transaction;
}

const blamedFor = (...failures: readonly NftFailure[]) =>
  new Map(rejectedPorts(new NftCommitError('IPv4', failures), replacement()));

it('blames whose elements the kernel names', () => {
  expect(blamedFor({ operation: 1, element: 1, reason: 'EINVAL' })).toEqual(
    new Map([[b, 'the kernel rejected add-elements: EINVAL']]),
  );
});

it('blames nobody for what is there because a deletion ended before it', () => {
  const gone = { operation: 0, element: 0, reason: 'ENOENT' };
  const present = { operation: 1, element: 1, reason: 'EEXIST' };
  expect(blamedFor(gone, present)).toEqual(new Map([[a, 'the kernel rejected delete-elements: ENOENT']]));
});

it('blames for an element that was deleted before', () => {
  const gone = { operation: 0, element: 2, reason: 'ENOENT' };
  const refused = { operation: 1, element: 1, reason: 'EINVAL' };
  expect([...blamedFor(gone, refused).keys()]).toEqual([c, b]);
});
