use super::*;

/// A file of types, as the kernel writes them.
struct File {
    types: Vec<u8>,
    strings: Vec<u8>,
    /// The number of the first byte of its strings.
    first_string: u32,
}

impl File {
    fn new(first_string: u32) -> Self {
        Self {
            types: Vec::new(),
            // The first string is the empty one; a module takes that of the kernel.
            strings: if first_string == 0 { vec![0] } else { Vec::new() },
            first_string,
        }
    }

    fn name(&mut self, name: &str) -> u32 {
        if name.is_empty() {
            return 0;
        }
        let at = self.strings.len() as u32;
        self.strings.extend(name.bytes().chain([0]));
        self.first_string + at
    }

    fn words(&mut self, words: &[u32]) {
        self.types.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
    }

    fn add(&mut self, name: &str, kind: u32, count: usize, size_or_type: u32) {
        let name = self.name(name);
        self.words(&[name, kind << 24 | count as u32, size_or_type]);
    }

    /// A structure or union with names, types and offsets in bits.
    fn structure(&mut self, name: &str, kind: u32, bytes: u32, members: &[(&str, u32, u32)]) {
        self.add(name, kind, members.len(), bytes);
        for (member, of, offset) in members {
            let member = self.name(member);
            self.words(&[member, *of, *offset]);
        }
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_ne_bytes().to_vec();
        bytes.extend([1, 0]);
        let (types, strings) = (self.types.len() as u32, self.strings.len() as u32);
        for word in [24, 0, types, types, strings] {
            bytes.extend(word.to_ne_bytes());
        }
        bytes.extend(&self.types);
        bytes.extend(&self.strings);
        bytes
    }
}

/// Flag of structures whose offsets hold sizes of bit fields.
const BIT_FIELDS: u32 = 1 << 7;

/// Types 1 to 8.
fn kernel() -> File {
    let mut file = File::new(0);
    file.add("int", kind::INT, 0, 4);
    file.words(&[32]);
    file.add("", kind::POINTER, 0, 1);
    file.add("u32", kind::TYPEDEF, 0, 1);
    file.add("", kind::ARRAY, 0, 0);
    file.words(&[3, 1, 6]);
    file.add("color", kind::ENUM, 2, 4);
    for (name, value) in [("RED", 3), ("GREEN", u32::MAX)] {
        let name = file.name(name);
        file.words(&[name, value]);
    }
    let inner = [("number", 3, 0), ("color", 5, 32)];
    file.structure("inner", kind::STRUCT, 8, &inner);
    // A field of 3 bits, and one that is none; both in a structure of the flag.
    let flagged = [("bits", 1, 3 << 24), ("whole", 3, 32), ("inner", 6, 64)];
    file.structure("flagged", kind::STRUCT | BIT_FIELDS, 16, &flagged);
    file.add("", kind::PROTOTYPE, 1, 0);
    file.words(&[0, 1]);
    file
}

/// Types 9 to 11, of a module.
fn module(kernel: &File) -> File {
    let mut file = File::new(kernel.strings.len() as u32);
    file.structure("", kind::UNION, 8, &[("pointer", 2, 0), ("small", 6, 0)]);
    file.add("", kind::CONST, 0, 6);
    let members = [("list", 4, 0), ("", 9, 192), ("inner", 10, 256)];
    file.structure("outer", kind::STRUCT, 40, &members);
    file
}

fn made() -> Btf {
    let kernel = kernel();
    Btf::parse(kernel.bytes(), [module(&kernel).bytes()]).unwrap()
}

#[track_caller]
fn is(btf: &Btf, structure: &str, path: &str, offset: u32, bytes: u32) {
    assert_eq!(
        btf.field(structure, path).unwrap(),
        Field { offset, bytes },
        "{structure}.{path}"
    );
}

#[test]
fn fields_are_found_in_the_kernel_and_in_modules() {
    let btf = made();
    is(&btf, "inner", "number", 0, 4);
    is(&btf, "inner", "color", 4, 4);
    is(&btf, "outer", "list", 0, 24);
    is(&btf, "outer", "pointer", 24, 8);
    is(&btf, "outer", "small.color", 28, 4);
    // Behind a `const`, of a type of the kernel.
    is(&btf, "outer", "inner.number", 32, 4);
    assert_eq!(btf.bytes("outer").unwrap(), 40);
    assert_eq!(btf.constant("color", "RED").unwrap(), 3);
    assert_eq!(btf.constant("color", "GREEN").unwrap(), u32::MAX);
}

#[test]
fn bit_fields_are_no_fields_and_do_not_move_others() {
    let btf = made();
    assert!(btf.field("flagged", "bits").is_err());
    is(&btf, "flagged", "whole", 4, 4);
    is(&btf, "flagged", "inner.color", 12, 4);
}

#[test]
fn what_is_missing_is_named() {
    let btf = made();
    for (structure, path) in [
        ("inner", "name"),
        ("nothing", "number"),
        ("inner", "number.more"),
        ("inner", ""),
    ] {
        let error = btf.field(structure, path).unwrap_err().to_string();
        assert!(error.contains(&format!("no {structure}.{path}:")), "{error}");
    }
    assert!(btf.constant("color", "BLUE").is_err());
    assert!(btf.bytes("nothing").is_err());
}

/// No file, whatever it holds, makes the reader panic or run for long.
#[test]
fn damaged_files_are_refused_or_give_less() {
    let (kernel, module) = (kernel().bytes(), module(&kernel()).bytes());
    let ask = |kernel: &[u8], module: &[u8]| {
        if let Ok(btf) = Btf::parse(kernel.to_vec(), [module.to_vec()]) {
            for (structure, path) in [("outer", "list"), ("outer", "small.color"), ("flagged", "inner.color")] {
                let _ = btf.field(structure, path);
            }
            let _ = btf.constant("color", "GREEN");
        }
    };
    for end in 0..kernel.len() {
        assert!(Btf::parse(kernel[..end].to_vec(), []).is_err(), "{end}");
    }
    for at in 0..kernel.len() {
        for value in [0, 1, 6, 0x7f, 0xff] {
            let mut damaged = kernel.clone();
            damaged[at] = value;
            ask(&damaged, &module);
        }
    }
    for at in 0..module.len() {
        for value in [0, 1, 9, 0x7f, 0xff] {
            let mut damaged = module.clone();
            damaged[at] = value;
            ask(&kernel, &damaged);
        }
    }
    let unknown = {
        let mut file = File::new(0);
        file.add("", 31, 0, 0);
        file.bytes()
    };
    let error = Btf::parse(unknown, []).unwrap_err().to_string();
    assert!(error.contains("kind of type"), "{error}");
}

/// What every kernel has, where this one describes itself.
#[test]
fn this_kernel_describes_well_known_structures() {
    let directory = Path::new("/sys/kernel/btf");
    if !directory.join("vmlinux").exists() {
        return;
    }
    let btf = Btf::of_this_kernel(directory, &["no_such_module"]).unwrap();
    is(&btf, "list_head", "next", 0, size_of::<usize>() as u32);
    is(
        &btf,
        "list_head",
        "prev",
        size_of::<usize>() as u32,
        size_of::<usize>() as u32,
    );
    assert_eq!(btf.field("task_struct", "comm").unwrap().bytes, 16);
    assert_eq!(btf.field("task_struct", "tgid").unwrap().bytes, 4);
    // Within a union without a name.
    is(&btf, "sk_buff", "next", 0, size_of::<usize>() as u32);
    if cfg!(target_arch = "x86_64") {
        is(&btf, "pt_regs", "di", 112, 8);
        is(&btf, "pt_regs", "ax", 80, 8);
    }
}
