import { Button, Menu, MenuItem, MenuTrigger, Popover, Text } from "react-aria-components";
import { Icon, type IconName } from "../theme/icons";

export interface Choice {
  value: string;
  name: string;
  text: string;
}

interface PickerProps {
  label: string;
  now: string;
  name: string;
  icon?: IconName;
  quiet?: boolean;
  disabled?: boolean;
  choices: Choice[];
  onPick: (value: string) => void;
}

/** A button that shows what is in force and opens the list of what can be, each with one sentence. */
export const Picker = ({ label, now, name, icon, quiet = false, disabled = false, choices, onPick }: PickerProps) => (
  <MenuTrigger>
    <Button className={`btn small${quiet ? " quiet hide-s" : ""} picker`} isDisabled={disabled}>
      <span className="vh">{label}: </span>
      {icon && <Icon name={icon} />}
      <span className="picked">{name}</span>
      <Icon name="down" />
    </Button>
    <Popover className="pop" placement="top start" offset={6}>
      <Menu className="menu" aria-label={label} selectionMode="single" selectedKeys={[now]} onAction={(key) => onPick(String(key))} disallowEmptySelection>
        {choices.map((choice) => (
          <MenuItem key={choice.value} id={choice.value} textValue={choice.name} className="opt">
            {choice.value === now ? <Icon name="check" /> : <i />}
            <Text slot="label" className="opt-name">
              {choice.name}
            </Text>
            <Text slot="description" className="opt-text">
              {choice.text}
            </Text>
          </MenuItem>
        ))}
      </Menu>
    </Popover>
  </MenuTrigger>
);
