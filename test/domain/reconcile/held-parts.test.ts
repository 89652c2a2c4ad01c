import { HeldParts, type Part } from '../../../src/domain/reconcile/held-parts.js';
import { unexplainedOwner } from '../../../src/domain/reconcile/unexplained.js';

it('a service port takes frontends from unexplained rules for good, and shares what is the same for all', () => {
  const held = new HeldParts<Part>((one, other) => one === other);
  const [unexplained, owner] = [unexplainedOwner('old'), 'shop/cart/tcp/'];
  const parts: readonly Part[] = [{ key: 'frontend', frontend: '10.96.0.1:80/TCP' }, { key: 'same' }];
  for (const claimant of [unexplained, owner]) held.replace(claimant, parts, () => {});
  held.replace(owner, undefined, () => {});
  expect(held.holder('frontend')).toBeUndefined();
  expect(held.holder('same')).toBe(unexplained);
});
