import fc from 'fast-check';
import { OwnedParts, type OwnedPart, type Part } from '../../../src/domain/reconcile/owned-parts.js';
import { unexplainedOwner } from '../../../src/domain/reconcile/claims.js';

it('a service port takes frontends from unexplained rules for good, and shares what is the same for all', () => {
  const held = new OwnedParts<Part>((one, other) => one === other);
  const [unexplained, owner] = [unexplainedOwner('old'), 'shop/cart/tcp/'];
  const parts: readonly Part[] = [{ key: 'frontend', frontend: '10.96.0.1:80/TCP' }, { key: 'same' }];
  for (const claimant of [unexplained, owner]) held.replace(claimant, parts, () => {});
  held.replace(owner, undefined, () => {});
  expect(held.ownerOf('frontend')).toBeUndefined();
  expect(held.ownerOf('same')).toBe(unexplained);
});

it('the lowest rank holds a part, then the first by key, and each change of holder or content is reported', () => {
  const owner = fc.constantFrom('a', 'b', 'c');
  const part = fc.record({ rank: fc.constantFrom(undefined, 1, 2), content: fc.constantFrom('x', 'y') });
  type Content = Part & { readonly content: string };
  fc.assert(
    fc.property(fc.array(fc.tuple(owner, fc.option(part, { nil: undefined }))), (steps) => {
      const held = new OwnedParts<Content>((one, other) => one.content === other.content);
      const claimed = new Map<string, Content>();
      let reported: OwnedPart<Content> | undefined;
      for (const [claimant, wanted] of steps) {
        const claim = wanted && { key: 'part', frontend: '10.96.0.1:80/TCP', ...wanted };
        if (claim) claimed.set(claimant, claim);
        else claimed.delete(claimant);
        held.replace(claimant, claim && [claim], (before, after) => {
          expect([before?.owner, before?.part.content]).toEqual([reported?.owner, reported?.part.content]);
          reported = after;
        });
        const order = ([key, { rank = 0 }]: [string, Content]): string => `${rank} ${key}`;
        const [first] = [...claimed].sort((one, other) => (order(one) < order(other) ? -1 : 1));
        expect(held.ownerOf('part')).toBe(first?.[0]);
        expect(held.heldPart('part')).toEqual(first?.[1]);
        expect([reported?.owner, reported?.part.content]).toEqual([first?.[0], first?.[1].content]);
      }
    }),
  );
});
