import { Button, Menu, MenuItem, MenuTrigger, Popover } from "react-aria-components";
import { Icon } from "../theme/icons";
import { useWords } from "../words/words";

interface SessionMenuProps {
  archived: boolean;
  online: boolean;
  running: boolean;
  onRename: () => void;
  onArchive: () => void;
  onDelete: () => void;
}

/** What can be done with a session as a whole. */
export const SessionMenu = ({ archived, online, running, onRename, onArchive, onDelete }: SessionMenuProps) => {
  const words = useWords();
  const acts: Record<string, () => void> = { rename: onRename, archive: onArchive, delete: onDelete };
  return (
    <MenuTrigger>
      <Button className="icon-btn" aria-label={words.shell.sessionMenu} isDisabled={!online}>
        <Icon name="more" />
      </Button>
      <Popover className="pop small" placement="bottom end">
        <Menu className="menu" aria-label={words.shell.sessionMenu} onAction={(key) => acts[String(key)]?.()} disabledKeys={running ? ["delete"] : []}>
          <MenuItem id="rename" className="item">
            {words.shell.rename}
          </MenuItem>
          <MenuItem id="archive" className="item">
            {archived ? words.shell.unarchive : words.shell.archive}
          </MenuItem>
          <MenuItem id="delete" className="item">
            {words.shell.delete}
          </MenuItem>
        </Menu>
      </Popover>
    </MenuTrigger>
  );
};
