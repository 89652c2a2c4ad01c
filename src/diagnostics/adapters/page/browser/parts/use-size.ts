import { useLayoutEffect } from 'preact/hooks';

/** Calls back with the element once it is in the document, and whenever its size changes. */
export function useSize(
  box: { readonly current: HTMLElement | null },
  sized: (element: HTMLElement) => void,
): void {
  useLayoutEffect(() => {
    const element = box.current!;
    const observer = new ResizeObserver(() => sized(element));
    observer.observe(element);
    sized(element);
    return () => observer.disconnect();
  }, []);
}
